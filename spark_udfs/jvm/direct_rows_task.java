// What a task of direct_rows.java runs that writes rows. In: rows that carry batches (batches_task.java). References: the
// attributes of the rows that go out; how Arrow keeps each of their columns (batch_columns.java), or null if that is not known.
//
// Rows are written a block at a time, and in a block column by column: loops over one kind of value each, the same for all
// tables, so that the JVM compiles them once. A block of rows stays in the cache until it is read.
//
//     i32    text             null bits | i32 |  text: where, how long | its bytes, padded
//      1     ab       row 0     ..       1     32  2                     ab
//      2     -        row 1     .#       2     0
public Object generate(Object[] references) { return new DirectRows(references); }

static final class DirectRows extends org.apache.spark.sql.execution.BufferedRowIterator {
    static final int BLOCK_BYTES = 1 << 16, LEAST_ROWS = 16, MOST_ROWS = 1 << 10;
    static final int LONGEST_ROW_BYTES = Integer.MAX_VALUE - BLOCK_BYTES;
    private final Object[] references;
    private scala.collection.Iterator batches;
    private org.apache.spark.sql.vectorized.ColumnarBatch batch;
    private org.apache.spark.sql.catalyst.expressions.UnsafeProjection projection;  // for batches not understood
    private final Fields fields;
    private final UnsafeRow written;
    private boolean direct;
    private int row = 0, rows = 0;  // of the batch
    private int at = 0, count = 0;  // of the block
    private final int blockRows;
    private final int[] begins, ends, after;  // of the block's rows
    private byte[] buffer = new byte[BLOCK_BYTES];

    DirectRows(Object[] references) {
      this.references = references;
      this.fields = references[1] == null ? null : new Fields((Object[]) references[1]);
      this.written = new UnsafeRow(fields == null ? 0 : fields.all.length);
      int bytes = fields == null ? BLOCK_BYTES : fields.fixedBytes;
      this.blockRows = Math.max(LEAST_ROWS, Math.min(MOST_ROWS, BLOCK_BYTES / Math.max(bytes, 1)));
      this.begins = new int[blockRows];
      this.ends = new int[blockRows];
      this.after = new int[blockRows];
    }

    public void init(int index, scala.collection.Iterator[] inputs) {
      partitionIndex = index;
      batches = inputs[0];
    }

    protected void processNext() {}  // nothing is put aside: rows are made when they are asked for

    public boolean hasNext() throws java.io.IOException {
      return at < count || more();
    }

    public InternalRow next() {
      if (!direct) return projection.apply(batch.getRow(row + at++));
      int begin = begins[at];
      written.pointTo(buffer, Platform.BYTE_ARRAY_OFFSET + begin, ends[at++] - begin);
      return written;
    }

    private boolean more() {
      row += count;
      at = count = 0;
      while (row == rows) {
        if (!batches.hasNext()) return false;
        load((org.apache.spark.sql.vectorized.ColumnarBatch) ((InternalRow) batches.next()).get(0, null));
      }
      if (direct) direct = writeBlock();
      if (!direct) project();
      return true;
    }

    private void load(org.apache.spark.sql.vectorized.ColumnarBatch loaded) {
      batch = loaded;
      row = 0;
      rows = loaded.numRows();
      direct = fields != null && fields.load((org.apache.spark.sql.vectorized.ArrowColumnVector) loaded.column(0));
    }

    // The rest of the batch by Spark's own projection.
    private void project() {
      scala.collection.immutable.Seq output = (scala.collection.immutable.Seq) references[0];
      if (projection == null)
        projection = org.apache.spark.sql.catalyst.expressions.UnsafeProjection.create(output, output);
      org.apache.spark.sql.vectorized.ArrowColumnVector column =
        (org.apache.spark.sql.vectorized.ArrowColumnVector) batch.column(0);
      org.apache.spark.sql.vectorized.ColumnVector[] children =
        new org.apache.spark.sql.vectorized.ColumnVector[output.length()];
      for (int i = 0; i < children.length; i++) children[i] = column.getChild(i);
      batch = new org.apache.spark.sql.vectorized.ColumnarBatch(children);
      batch.setNumRows(rows);
      count = rows - row;
    }

    // False if a row is longer than any may be: Spark says so.
    private boolean writeBlock() {
      int wanted = Math.min(blockRows, rows - row);
      java.util.Arrays.fill(ends, 0, wanted, fields.fixedBytes);
      fields.measure(row, wanted, ends);
      long end = 0L;
      for (count = 0; count < wanted && (count == 0 || end + ends[count] <= 2L * BLOCK_BYTES); count++) {
        begins[count] = after[count] = (int) end;
        end += ends[count];
        if (end > LONGEST_ROW_BYTES) return false;
        ends[count] = (int) end;
      }
      if (end > buffer.length) buffer = new byte[(int) end + LEAST_ROWS];
      fields.write(buffer, row, count, begins, after);
      return true;
    }
}

// Columns of a batch, or of one of its structs.
static final class Fields {
    final Field[] all;
    final int bitsBytes, fixedBytes;

    Fields(Object[] described) {
      all = new Field[described.length];
      for (int i = 0; i < all.length; i++) all[i] = new Field((Object[]) described[i]);
      bitsBytes = (all.length + 63) / 64 * 8;
      fixedBytes = bitsBytes + 8 * all.length;
    }

    boolean load(org.apache.spark.sql.vectorized.ArrowColumnVector struct) {
      for (int i = 0; i < all.length; i++)
        if (!all[i].load((org.apache.spark.sql.vectorized.ArrowColumnVector) struct.getChild(i))) return false;
      return true;
    }

    void measure(int first, int count, int[] bytes) {
      for (int i = 0; i < all.length; i++) all[i].measure(first, count, bytes);
    }

    // `begins`: where each row goes, negative for none; `after`: where its texts go, moved behind them.
    void write(byte[] to, int first, int count, int[] begins, int[] after) {
      for (int word = 0; word < bitsBytes; word += 8)
        for (int i = 0; i < count; i++)
          if (begins[i] >= 0) Platform.putLong(to, Platform.BYTE_ARRAY_OFFSET + begins[i] + word, 0L);
      for (int i = 0; i < count; i++)
        if (begins[i] >= 0) after[i] += fixedBytes;
      for (int i = 0; i < all.length; i++) all[i].write(to, first, count, begins, after, i, bitsBytes + 8 * i);
    }
}

// A column: where Arrow keeps its values, and what rows hold of them.
static final class Field {
    static final int BIT = 0, ONE = 1, TWO = 2, FOUR = 3, EIGHT = 4, SIXTEEN = 5, TEXT = 6, STRUCT = 7, VARIANT = 8;
    static final int SHORT_TEXT_BYTES = 128;  // so many are copied by words
    static final boolean LITTLE = java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN;
    private final String vector;
    private final int kind;
    private final Fields inner;
    private int[] innerBegins = new int[0];
    private long data, dataEnd, offsets, valid;  // addresses; no `valid`: no value is null
    private boolean wide;                        // offsets of 64 bits

    Field(Object[] described) {
      vector = (String) described[0];
      kind = ((Integer) described[1]).intValue();
      inner = described[2] == null ? null : new Fields((Object[]) described[2]);
    }

    // False if it is kept otherwise than was said.
    boolean load(org.apache.spark.sql.vectorized.ArrowColumnVector column) {
      org.apache.arrow.vector.ValueVector found = column.getValueVector();
      String name = found.getClass().getSimpleName();
      wide = kind == TEXT && name.equals("Large" + vector);
      if (!wide && !name.equals(vector)) return false;
      valid = found.getNullCount() == 0 ? 0L : found.getValidityBuffer().memoryAddress();
      if (inner != null) return inner.load(column);
      data = found.getDataBuffer().memoryAddress();
      dataEnd = data + found.getDataBuffer().capacity();
      if (kind == TEXT) offsets = found.getOffsetBuffer().memoryAddress();
      return true;
    }

    private boolean isNull(int row) {
      return valid != 0L && (Platform.getByte(null, valid + (row >> 3)) & (1 << (row & 7))) == 0;
    }

    private long begin(int row) {
      return wide ? Platform.getLong(null, offsets + ((long) row << 3)) : Platform.getInt(null, offsets + ((long) row << 2));
    }

    private int length(int row) { return (int) (begin(row + 1) - begin(row)); }

    private int variantLength(int row) { return 4 + inner.all[0].length(row) + inner.all[1].length(row); }

    static int rounded(int bytes) { return (bytes + 7) & ~7; }

    static int sum(int bytes, int more) {
      return more < 0 || bytes > Integer.MAX_VALUE - more ? Integer.MAX_VALUE : bytes + more;
    }

    // ------------------------------------------------------------------------------------- how much rows have of it

    // `bytes`: of each row, added to, beside its eight.
    void measure(int first, int count, int[] bytes) {
      if (kind == TEXT) measureTexts(first, count, bytes);
      else if (kind == STRUCT) measureStructs(first, count, bytes);
      else if (kind == VARIANT)
        for (int i = 0; i < count; i++)
          if (!isNull(first + i)) bytes[i] = sum(bytes[i], rounded(variantLength(first + i)));
    }

    private void measureTexts(int first, int count, int[] bytes) {
      for (int i = 0; i < count; i++)
        if (!isNull(first + i)) bytes[i] = sum(bytes[i], rounded(length(first + i)));
    }

    private void measureStructs(int first, int count, int[] bytes) {
      int[] more = new int[count];
      java.util.Arrays.fill(more, inner.fixedBytes);
      inner.measure(first, count, more);
      for (int i = 0; i < count; i++)
        if (!isNull(first + i)) bytes[i] = sum(bytes[i], more[i]);
    }

    // --------------------------------------------------------------------------------------------------- into rows

    void write(byte[] to, int first, int count, int[] begins, int[] after, int ordinal, int place) {
      long at = Platform.BYTE_ARRAY_OFFSET + place;
      if (kind == EIGHT || kind == SIXTEEN) writeLongs(to, first, count, begins, at);
      else if (kind == FOUR) writeInts(to, first, count, begins, at);
      else if (kind == TEXT) writeTexts(to, first, count, begins, after, at);
      else if (kind == STRUCT) writeStructs(to, first, count, begins, after, at);
      else if (kind == VARIANT) writeVariants(to, first, count, begins, after, at);
      else writeSmall(to, first, count, begins, at);
      if (valid != 0L) writeNulls(to, first, count, begins, ordinal, at);
    }

    private void writeNulls(byte[] to, int first, int count, int[] begins, int ordinal, long at) {
      long word = Platform.BYTE_ARRAY_OFFSET + (ordinal >> 6) * 8L;
      for (int i = 0; i < count; i++) {
        if (begins[i] < 0 || !isNull(first + i)) continue;
        Platform.putLong(to, begins[i] + word, Platform.getLong(to, begins[i] + word) | 1L << (ordinal & 63));
        Platform.putLong(to, begins[i] + at, 0L);
      }
    }

    private void writeLongs(byte[] to, int first, int count, int[] begins, long at) {
      int shift = kind == EIGHT ? 3 : 4;
      for (int i = 0; i < count; i++)
        if (begins[i] >= 0)
          Platform.putLong(to, begins[i] + at, Platform.getLong(null, data + ((long) (first + i) << shift)));
    }

    private void writeInts(byte[] to, int first, int count, int[] begins, long at) {
      for (int i = 0; i < count; i++) {
        if (begins[i] < 0) continue;
        Platform.putLong(to, begins[i] + at, 0L);
        Platform.putInt(to, begins[i] + at, Platform.getInt(null, data + ((long) (first + i) << 2)));
      }
    }

    private void writeSmall(byte[] to, int first, int count, int[] begins, long at) {
      for (int i = 0; i < count; i++) {
        if (begins[i] < 0) continue;
        int row = first + i;
        Platform.putLong(to, begins[i] + at, 0L);
        if (kind == TWO) Platform.putShort(to, begins[i] + at, Platform.getShort(null, data + ((long) row << 1)));
        else if (kind == ONE) Platform.putByte(to, begins[i] + at, Platform.getByte(null, data + row));
        else Platform.putByte(to, begins[i] + at, (byte) (Platform.getByte(null, data + (row >> 3)) >> (row & 7) & 1));
      }
    }

    private void writeTexts(byte[] to, int first, int count, int[] begins, int[] after, long at) {
      for (int i = 0; i < count; i++) {
        if (begins[i] < 0 || isNull(first + i)) continue;
        int length = length(first + i);
        Platform.putLong(to, begins[i] + at, (long) (after[i] - begins[i]) << 32 | length);
        copy(to, Platform.BYTE_ARRAY_OFFSET + after[i], data + begin(first + i), length);
        after[i] += rounded(length);
      }
    }

    // Zeros behind them, up to a whole word.
    private void copy(byte[] to, long at, long from, int length) {
      int whole = length & ~7, left = length & 7;
      if (length > SHORT_TEXT_BYTES) Platform.copyMemory(null, from, to, at, whole);
      else
        for (int k = 0; k < whole; k += 8) Platform.putLong(to, at + k, Platform.getLong(null, from + k));
      if (left == 0) return;
      if (from + whole + 8 <= dataEnd) {
        long last = Platform.getLong(null, from + whole);
        Platform.putLong(to, at + whole, LITTLE ? last & (1L << (left << 3)) - 1L : last & -1L << (64 - (left << 3)));
      } else {
        Platform.putLong(to, at + whole, 0L);
        for (int k = whole; k < length; k++) Platform.putByte(to, at + k, Platform.getByte(null, from + k));
      }
    }

    private void writeStructs(byte[] to, int first, int count, int[] begins, int[] after, long at) {
      if (innerBegins.length < count) innerBegins = new int[count];
      for (int i = 0; i < count; i++) innerBegins[i] = begins[i] < 0 || isNull(first + i) ? -1 : after[i];
      inner.write(to, first, count, innerBegins, after);
      for (int i = 0; i < count; i++)
        if (innerBegins[i] >= 0)
          Platform.putLong(to, begins[i] + at, (long) (innerBegins[i] - begins[i]) << 32 | (after[i] - innerBegins[i]));
    }

    // The value's length, the value, the metadata.
    private void writeVariants(byte[] to, int first, int count, int[] begins, int[] after, long at) {
      Field value = inner.all[0], metadata = inner.all[1];
      for (int i = 0; i < count; i++) {
        int row = first + i;
        if (begins[i] < 0 || isNull(row)) continue;
        int length = variantLength(row), valueLength = value.length(row);
        long begin = Platform.BYTE_ARRAY_OFFSET + after[i];
        Platform.putLong(to, begins[i] + at, (long) (after[i] - begins[i]) << 32 | length);
        Platform.putLong(to, begin + rounded(length) - 8, 0L);
        Platform.putInt(to, begin, valueLength);
        Platform.copyMemory(null, value.data + value.begin(row), to, begin + 4, valueLength);
        Platform.copyMemory(null, metadata.data + metadata.begin(row), to, begin + 4 + valueLength, metadata.length(row));
        after[i] += rounded(length);
      }
    }
}

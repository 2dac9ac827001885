// What a task of direct_rows.java runs. References: what ArrowPythonRunner takes, the limits of a batch on its way in,
// whether its schema is checked on the way out, the type declared, the attributes of the rows.
public Object generate(Object[] references) { return new DirectRows(references); }

static final class DirectRows extends org.apache.spark.sql.execution.BufferedRowIterator {
    private static final int FIRST_ROW_BYTES = 256;
    private final Object[] references;
    private scala.collection.Iterator batches;
    private org.apache.spark.sql.vectorized.ColumnarBatch batch;
    private org.apache.spark.sql.catalyst.expressions.UnsafeProjection projection;  // for batches not understood
    private Object schemaSeen;
    private boolean direct;
    private int row = 0, rows = 0;
    private final org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter writer =
      new org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter(/*count*/, FIRST_ROW_BYTES);
/*fields*/
    DirectRows(Object[] references) { this.references = references; }

    public void init(int index, scala.collection.Iterator[] inputs) {
      partitionIndex = index;
/*init*/
      org.apache.spark.sql.execution.python.ArrowPythonRunner runner =
        new org.apache.spark.sql.execution.python.ArrowPythonRunner(
          (scala.collection.immutable.Seq) references[0], ((Integer) references[1]).intValue(), new int[][] {{0}},
          (org.apache.spark.sql.types.StructType) references[2], (String) references[3],
          ((Boolean) references[4]).booleanValue(), (scala.collection.immutable.Map) references[5],
          (scala.collection.immutable.Map) references[6], (scala.Option) references[7], (scala.Option) references[8]);
      TaskContext context = TaskContext.get();
      batches = runner.compute(
        new Cuts(inputs[0], ((Integer) references[9]).intValue(), ((Long) references[10]).longValue()),
        context.partitionId(), context);
    }

    protected void processNext() {}  // nothing is put aside: rows are made when they are asked for

    public boolean hasNext() throws java.io.IOException {
      while (row == rows) {
        if (!batches.hasNext()) return false;
        load((org.apache.spark.sql.vectorized.ColumnarBatch) batches.next());
      }
      return true;
    }

    public InternalRow next() {
      if (!direct) return projection.apply(batch.getRow(row++));
      writer.reset();
      writer.zeroOutNullBytes();
      put(row++);
      return writer.getRow();
    }

    private void load(org.apache.spark.sql.vectorized.ColumnarBatch loaded) {
      org.apache.spark.sql.vectorized.ArrowColumnVector column =
        (org.apache.spark.sql.vectorized.ArrowColumnVector) loaded.column(0);
      row = 0;
      rows = loaded.numRows();
      if (schemaSeen != column && ((Boolean) references[11]).booleanValue()) {
        org.apache.spark.sql.types.DataType declared = (org.apache.spark.sql.types.DataType) references[12];
        if (!org.apache.spark.sql.types.DataType$.MODULE$.equalsIgnoreCompatibleNullability(
            column.dataType(), declared))
          Platform.throwException(QueryExecutionErrors.arrowDataTypeMismatchError(
            "SQL_MAP_ARROW_ITER_UDF", one(declared), one(column.dataType())));
      }
      schemaSeen = column;
      direct = loaded(column);
      if (direct) return;
      scala.collection.immutable.Seq output = (scala.collection.immutable.Seq) references[13];
      if (projection == null)
        projection = org.apache.spark.sql.catalyst.expressions.UnsafeProjection.create(output, output);
      org.apache.spark.sql.vectorized.ColumnVector[] columns =
        new org.apache.spark.sql.vectorized.ColumnVector[output.length()];
      for (int i = 0; i < columns.length; i++) columns[i] = column.getChild(i);
      batch = new org.apache.spark.sql.vectorized.ColumnarBatch(columns);
      batch.setNumRows(rows);
    }

    private static scala.collection.immutable.Seq one(Object value) {
      return scala.jdk.javaapi.CollectionConverters.asScala(java.util.Arrays.asList(new Object[] {value})).toSeq();
    }

    private static boolean isNull(long valid, int row) {
      return (Platform.getByte(null, valid + (row >> 3)) & (1 << (row & 7))) == 0;
    }

    private boolean loaded(org.apache.spark.sql.vectorized.ArrowColumnVector column) {
      return /*loads*/;
    }

    private void put(int row) {
/*puts*/    }
/*methods*/
}

// Rows become batches of at most so many rows and bytes, one more row than fits at most: the bytes are the rows' own.
static final class Cuts extends scala.collection.AbstractIterator {
    static final int UNMEASURED_ROW_BYTES = 65536;  // no kind of row that operators exchange
    final scala.collection.Iterator rows;
    final int mostRows;
    final long mostBytes;
    final Object[] inside = new Object[1];
    final InternalRow wrapped = new org.apache.spark.sql.catalyst.expressions.GenericInternalRow(inside);

    Cuts(scala.collection.Iterator rows, int mostRows, long mostBytes) {
      this.rows = rows;
      this.mostRows = mostRows > 0 ? mostRows : Integer.MAX_VALUE;
      this.mostBytes = mostBytes;
    }

    public boolean hasNext() { return rows.hasNext(); }

    public Object next() {
      return new scala.collection.AbstractIterator() {
        private int rowsLeft = mostRows;
        private long bytesLeft = mostBytes;

        public boolean hasNext() { return rowsLeft > 0 && bytesLeft > 0L && rows.hasNext(); }

        public Object next() {
          Object row = rows.next();
          rowsLeft--;
          bytesLeft -= row instanceof UnsafeRow ? ((UnsafeRow) row).getSizeInBytes() : UNMEASURED_ROW_BYTES;
          inside[0] = row;
          return wrapped;
        }
      };
    }
}

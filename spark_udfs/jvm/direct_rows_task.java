// What a task of direct_rows.java runs that writes rows. In: rows that carry batches (batches_task.java). References: the
// attributes of the rows that go out.
public Object generate(Object[] references) { return new DirectRows(references); }

static final class DirectRows extends org.apache.spark.sql.execution.BufferedRowIterator {
    private static final int FIRST_ROW_BYTES = 256;
    private final Object[] references;
    private scala.collection.Iterator batches;
    private org.apache.spark.sql.vectorized.ColumnarBatch batch;
    private org.apache.spark.sql.catalyst.expressions.UnsafeProjection projection;  // for batches not understood
    private final Columns columns = new Columns();
    private boolean direct;
    private int row = 0, rows = 0;
    private final org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter writer =
      new org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter(/*count*/, FIRST_ROW_BYTES);

    DirectRows(Object[] references) { this.references = references; }

    public void init(int index, scala.collection.Iterator[] inputs) {
      partitionIndex = index;
      batches = inputs[0];
/*init*/    }

    protected void processNext() {}  // nothing is put aside: rows are made when they are asked for

    public boolean hasNext() throws java.io.IOException {
      while (row == rows) {
        if (!batches.hasNext()) return false;
        load((org.apache.spark.sql.vectorized.ColumnarBatch) ((InternalRow) batches.next()).get(0, null));
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
      direct = /*understood*/ && columns.load(column);
      if (direct) return;
      scala.collection.immutable.Seq output = (scala.collection.immutable.Seq) references[0];
      if (projection == null)
        projection = org.apache.spark.sql.catalyst.expressions.UnsafeProjection.create(output, output);
      org.apache.spark.sql.vectorized.ColumnVector[] children =
        new org.apache.spark.sql.vectorized.ColumnVector[output.length()];
      for (int i = 0; i < children.length; i++) children[i] = column.getChild(i);
      batch = new org.apache.spark.sql.vectorized.ColumnarBatch(children);
      batch.setNumRows(rows);
    }

    private void put(int row) {
/*puts*/    }
/*methods*/
}

/*columns*/

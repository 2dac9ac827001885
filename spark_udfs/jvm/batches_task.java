// What a task of direct_rows.java runs that calls the Python function. Out: rows that carry its batches. References: what
// ArrowPythonRunner takes, the limits of a batch on its way in, whether its schema is checked on the way out, the type
// declared, what its reports count, where that is counted, whether it is of files.
public Object generate(Object[] references) { return new Batches(references); }

static final class Batches extends org.apache.spark.sql.execution.BufferedRowIterator {
    private final Object[] references;
    private final Object[] carried = new Object[1];
    private final InternalRow carrier = new org.apache.spark.sql.catalyst.expressions.GenericInternalRow(carried);
    private scala.collection.Iterator batches;
    private Object schemaSeen;
    private boolean counted = false;
    private static final java.util.Map TAKEN = new java.util.WeakHashMap();  // of an accumulator, how many updates

    Batches(Object[] references) { this.references = references; }

    public void init(int index, scala.collection.Iterator[] inputs) {
      partitionIndex = index;
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

    protected void processNext() {}  // nothing is put aside

    public boolean hasNext() throws java.io.IOException {
      if (batches.hasNext()) return true;
      if (!counted) count();
      counted = true;
      return false;
    }

    // What the function has reported (metrics.py), once it has ended: an update of Python's accumulator. Each is taken by the
    // function that ended with it, also where others of ours run in the same task.
    private void count() {
      org.apache.spark.api.python.ChainedPythonFunctions called = (org.apache.spark.api.python.ChainedPythonFunctions)
        ((scala.Tuple2) ((scala.collection.Seq) references[0]).head())._1();
      org.apache.spark.util.CollectionAccumulator updates =
        ((org.apache.spark.api.python.PythonFunction) called.funcs().head()).accumulator();
      if (updates == null) return;
      java.util.List pickled;
      synchronized (TAKEN) {
        Integer before = (Integer) TAKEN.get(updates);
        pickled = new java.util.ArrayList(updates.value());
        TAKEN.put(updates, Integer.valueOf(pickled.size()));
        if (before != null) pickled = pickled.subList(before.intValue(), pickled.size());
      }
      try {
        for (int i = 0; i < pickled.size(); i++)
          count(((Object[]) new net.razorvine.pickle.Unpickler().loads((byte[]) pickled.get(i)))[1]);
      } catch (Exception notOurs) {
        // an accumulator of somebody else's: it is Python's to read
      }
    }

    // Reports, however deep: by query and stage, then by task.
    private void count(Object reported) {
      if (!(reported instanceof java.util.Map)) return;
      java.util.Map report = (java.util.Map) reported;
      if (!report.containsKey("kernel")) {
        for (java.util.Iterator each = report.values().iterator(); each.hasNext();) count(each.next());
        return;
      }
      String[] names = (String[]) references[13];
      for (int i = 0; i < names.length; i++)
        ((org.apache.spark.sql.execution.metric.SQLMetric[]) references[14])[i].add(number(report, names[i]));
      if (!((Boolean) references[15]).booleanValue()) return;
      org.apache.spark.executor.InputMetrics read = TaskContext.get().taskMetrics().inputMetrics();
      read.incBytesRead(number(report, "bytes"));
      read.incRecordsRead(number(report, "records"));
    }

    private static long number(java.util.Map report, String name) {
      Object found = report.get(name);
      return found instanceof Number ? ((Number) found).longValue() : 0L;
    }

    public InternalRow next() {
      org.apache.spark.sql.vectorized.ColumnarBatch batch =
        (org.apache.spark.sql.vectorized.ColumnarBatch) batches.next();
      if (schemaSeen != batch.column(0) && ((Boolean) references[11]).booleanValue()) {
        org.apache.spark.sql.types.DataType declared = (org.apache.spark.sql.types.DataType) references[12];
        if (!org.apache.spark.sql.types.DataType$.MODULE$.equalsIgnoreCompatibleNullability(
            batch.column(0).dataType(), declared))
          Platform.throwException(QueryExecutionErrors.arrowDataTypeMismatchError(
            "SQL_MAP_ARROW_ITER_UDF", one(declared), one(batch.column(0).dataType())));
      }
      schemaSeen = batch.column(0);
      carried[0] = batch;
      return carrier;
    }

    private static scala.collection.immutable.Seq one(Object value) {
      return scala.jdk.javaapi.CollectionConverters.asScala(java.util.Arrays.asList(new Object[] {value})).toSeq();
    }
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

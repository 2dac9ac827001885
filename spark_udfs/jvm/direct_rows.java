// Comes in: a plan with one of our Python functions. Goes out: an operator that runs the same function and makes
// Spark's rows straight from the memory of its Arrow batches. Compiled in the running JVM (direct_rows.py).
//
// Spark's own operator asks every value of every column through four layers, and on the way in it measures a batch anew
// with every row. Here a row is written by code made for the columns at hand, as whole-stage code generation does it,
// and the bytes of a batch on its way in are the sum of its rows'. What runs in tasks travels as source: executors need
// nothing.
// What is not understood here is left to Spark's operator, a whole query or a single batch.
package formatter.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.api.python.ChainedPythonFunctions;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapInArrow;
import org.apache.spark.sql.execution.PlanLater;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.WholeStageCodegenEvaluatorFactory;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import org.apache.spark.sql.execution.python.ArrowPythonRunner;
import org.apache.spark.sql.execution.python.MapInArrowExec;
import org.apache.spark.sql.types.*;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

public class FormatterDirectRows extends SparkStrategy {
    static final String SWITCH = "spark.formatter.directRows.enabled";
    static final String OURS = "formatter.";
    static final String RECORDS = "formatter.records";
    static final long RECORD_BATCH_BYTES = 1L << 20;
    final String task;  // direct_rows_task.java

    public FormatterDirectRows(String task) { this.task = task; }

    public Seq apply(LogicalPlan plan) {
        ArrayList planned = new ArrayList();
        if (plan instanceof MapInArrow && "true".equals(plan.conf().getConfString(SWITCH, "false"))) {
            MapInArrow map = (MapInArrow) plan;
            boolean plain = !map.isBarrier() && map.profile().isEmpty() && map.functionExpr() instanceof PythonUDF;
            if (plain && ((PythonUDF) map.functionExpr()).name().startsWith(OURS))
                planned.add(new FormatterMapInArrowExec(
                    (Expression) map.functionExpr(), map.output(), new PlanLater(map.child()), false, map.profile(),
                    task));
        }
        return seq(planned);
    }

    // Why no task could run its code here; null where each can.
    public String unfit() {
        try {
            CodeGenerator.compile(code(task, new StructField[0]));
            return null;
        } catch (Throwable unknownHere) {
            return unknownHere.toString();
        }
    }

    static CodeAndComment code(String task, StructField[] output) {
        return new CodeAndComment(new RowSource().text(task, output), CollectionConverters.asScala(new HashMap()));
    }

    static Seq seq(List values) { return CollectionConverters.asScala(values).toSeq(); }

    static Seq one(Object value) { return seq(Arrays.asList(new Object[] {value})); }

    public static class FormatterMapInArrowExec extends MapInArrowExec {
        final String task;
        final MapInArrowExec sparks;

        public FormatterMapInArrowExec(
            Expression func, Seq output, SparkPlan child, boolean isBarrier, Option profile, String task) {
            super(func, output, child, isBarrier, profile);
            this.task = task;
            this.sparks = new MapInArrowExec(func, output, child, isBarrier, profile);
        }

        // Operators above send themselves to executors, and with them those below; executors do not have this class.
        public Object writeReplace() { return sparks; }

        public scala.collection.immutable.Seq otherCopyArgs() { return one(task); }

        public MapInArrowExec withNewChildInternal(SparkPlan child) {
            return new FormatterMapInArrowExec(func(), output(), child, isBarrier(), profile(), task);
        }

        // Small values are copied several times on their way: a batch that stays in the cache is the faster one.
        long mostBytes(PythonUDF udf) {
            long configured = conf().arrowMaxBytesPerBatch();
            return udf.name().startsWith(RECORDS) ? Math.min(configured, RECORD_BATCH_BYTES) : configured;
        }

        public RDD doExecute() {
            PythonUDF udf = (PythonUDF) func();
            CodeAndComment code = code(task, ((StructType) udf.dataType()).fields());
            try {
                CodeGenerator.compile(code);
            } catch (Throwable unknownHere) {
                LoggerFactory.getLogger("spark_udfs").warn("rows come by Spark's own operator: " + unknownHere);
                return super.doExecute();
            }
            Tuple2 call = new Tuple2(new ChainedPythonFunctions(one(udf.func())), Long.valueOf(udf.resultId().id()));
            StructField[] wrapped = {new StructField("struct", child().schema(), true, Metadata.empty())};
            Object[] references = {
                one(call), Integer.valueOf(udf.evalType()), new StructType(wrapped), conf().sessionLocalTimeZone(),
                Boolean.valueOf(conf().arrowUseLargeVarTypes()), ArrowPythonRunner.getPythonRunnerConfMap(conf()),
                pythonMetrics(), org$apache$spark$sql$execution$python$MapInBatchExec$$jobArtifactUUID(),
                org$apache$spark$sql$execution$python$MapInBatchExec$$sessionUUID(),
                Integer.valueOf(conf().arrowMaxRecordsPerBatch()), Long.valueOf(mostBytes(udf)),
                Boolean.valueOf(conf().pysparkArrowValidateSchema()), udf.dataType(), output()};
            WholeStageCodegenEvaluatorFactory factory = new WholeStageCodegenEvaluatorFactory(
                new scala.util.Right(code),
                SQLMetrics.createTimingMetric(session().sparkContext(), "duration", -1L), references);
            return child().execute().mapPartitionsWithEvaluator(
                factory, scala.reflect.ClassTag$.MODULE$.apply(InternalRow.class));
        }
    }

    // The source of what a task runs, for columns of these types. A column is its position among all fields, those of
    // structs too.
    static class RowSource {
        static final int MOST_FIELDS = 1000;  // the method that writes a row must stay small enough to be compiled well
        static final String COLUMN = "org.apache.spark.sql.vectorized.ArrowColumnVector";
        static final String WRITER = "org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter";
        final StringBuilder fields = new StringBuilder();
        final StringBuilder methods = new StringBuilder();
        final StringBuilder init = new StringBuilder();
        int count = 0;
        boolean understood = true;
        String loads, puts;

        String text(String task, StructField[] output) {
            inner(output, "writer");
            if (count > MOST_FIELDS) understood = false;
            if (!understood) {
                fields.setLength(0);
                methods.setLength(0);
                init.setLength(0);
            }
            return task.replace("/*fields*/", fields).replace("/*methods*/", methods).replace("/*init*/", init)
                .replace("/*loads*/", understood ? loads : "false").replace("/*puts*/", understood ? puts : "")
                .replace("/*count*/", "" + output.length);
        }

        // Of the columns within a column: `loads` and `puts` become calls that do it for all of them.
        void inner(StructField[] inner, String writer) {
            StringBuilder load = new StringBuilder("true"), put = new StringBuilder();
            for (int i = 0; i < inner.length; i++) {
                int at = column(inner[i].dataType(), i, writer);
                load.append("\n        && load" + at + "((" + COLUMN + ") column.getChild(" + i + "))");
                put.append("      put" + at + "(" + writer + ", row);\n");
            }
            loads = load.toString();
            puts = put.toString();
        }

        int column(DataType type, int ordinal, String parent) {
            int at = count++;
            if (type instanceof BooleanType)
                values(at, ordinal, "BitVector",
                    "(Platform.getByte(null, data" + at + " + (row >> 3)) >> (row & 7) & 1) != 0");
            else if (type instanceof ByteType) values(at, ordinal, "TinyIntVector", number("Byte", at, 0));
            else if (type instanceof ShortType) values(at, ordinal, "SmallIntVector", number("Short", at, 1));
            else if (type instanceof IntegerType) values(at, ordinal, "IntVector", number("Int", at, 2));
            else if (type instanceof LongType) values(at, ordinal, "BigIntVector", number("Long", at, 3));
            else if (type instanceof FloatType) values(at, ordinal, "Float4Vector", number("Float", at, 2));
            else if (type instanceof DoubleType) values(at, ordinal, "Float8Vector", number("Double", at, 3));
            else if (type instanceof DateType) values(at, ordinal, "DateDayVector", number("Int", at, 2));
            else if (type instanceof TimestampType)
                values(at, ordinal, "TimeStampMicroTZVector", number("Long", at, 3));
            else if (type instanceof TimestampNTZType)
                values(at, ordinal, "TimeStampMicroVector", number("Long", at, 3));
            else if (type instanceof StringType) texts(at, ordinal, "VarCharVector");
            else if (type instanceof BinaryType) texts(at, ordinal, "VarBinaryVector");
            else if (type instanceof VariantType) variant(at, ordinal);
            else if (type instanceof StructType) struct(at, ordinal, (StructType) type, parent);
            else understood = false;
            return at;
        }

        static String number(String kind, int at, int shift) {
            return "Platform.get" + kind + "(null, data" + at + " + ((long) row << " + shift + "))";
        }

        void load(int at, String vector, String rest) {
            fields.append("    private long data" + at + ", valid" + at + ";\n");
            methods.append("    private boolean load" + at + "(" + COLUMN + " column) {\n"
                + "      org.apache.arrow.vector.ValueVector vector = column.getValueVector();\n"
                + "      valid" + at + " = vector.getNullCount() == 0 ? 0L\n"
                + "        : vector.getValidityBuffer().memoryAddress();\n"
                + rest + "    }\n");
        }

        void put(int at, int ordinal, String write) {
            methods.append("    private void put" + at + "(" + WRITER + " writer, int row) {\n"
                + "      if (valid" + at + " != 0L && isNull(valid" + at + ", row)) {\n"
                + "        writer.setNullAt(" + ordinal + ");\n        return;\n      }\n"
                + write + "    }\n");
        }

        void values(int at, int ordinal, String vector, String value) {
            load(at, vector, "      if (!(vector instanceof org.apache.arrow.vector." + vector + ")) return false;\n"
                + "      data" + at + " = vector.getDataBuffer().memoryAddress();\n      return true;\n");
            put(at, ordinal, "      writer.write(" + ordinal + ", " + value + ");\n");
        }

        // A row holds binary as it holds text.
        void texts(int at, int ordinal, String vector) {
            fields.append("    private long offsets" + at + ";\n    private boolean wide" + at + ";\n");
            load(at, vector, "      wide" + at + " = vector instanceof org.apache.arrow.vector.Large" + vector + ";\n"
                + "      if (!wide" + at + " && !(vector instanceof org.apache.arrow.vector." + vector + "))\n"
                + "        return false;\n"
                + "      data" + at + " = vector.getDataBuffer().memoryAddress();\n"
                + "      offsets" + at + " = vector.getOffsetBuffer().memoryAddress();\n      return true;\n");
            put(at, ordinal, "      long begin, end;\n"
                + "      if (wide" + at + ") {\n"
                + "        begin = Platform.getLong(null, offsets" + at + " + ((long) row << 3));\n"
                + "        end = Platform.getLong(null, offsets" + at + " + ((long) row << 3) + 8L);\n"
                + "      } else {\n"
                + "        begin = Platform.getInt(null, offsets" + at + " + ((long) row << 2));\n"
                + "        end = Platform.getInt(null, offsets" + at + " + ((long) row << 2) + 4L);\n"
                + "      }\n"
                + "      writer.write(" + ordinal + ",\n"
                + "        UTF8String.fromAddress(null, data" + at + " + begin, (int) (end - begin)));\n");
        }

        // Comes as two binaries, the value and its metadata, and stands in a row as one.
        void variant(int at, int ordinal) {
            StringBuilder parts = new StringBuilder(), copies = new StringBuilder();
            for (String part : new String[] {"value", "metadata"}) {
                String name = part + at, ends = part + "Ends" + at;
                fields.append("    private long " + name + ", " + ends + ";\n");
                parts.append("      org.apache.arrow.vector.ValueVector " + part + " =\n"
                    + "        ((org.apache.arrow.vector.complex.StructVector) vector).getChild(\"" + part + "\");\n"
                    + "      if (!(" + part + " instanceof org.apache.arrow.vector.VarBinaryVector)) return false;\n"
                    + "      " + name + " = " + part + ".getDataBuffer().memoryAddress();\n"
                    + "      " + ends + " = " + part + ".getOffsetBuffer().memoryAddress();\n");
                copies.append("      int " + part + "Begin = Platform.getInt(null, " + ends + " + ((long) row << 2));\n"
                    + "      int " + part + "Size = Platform.getInt(null, " + ends + " + ((long) row << 2) + 4L) - "
                    + part + "Begin;\n"
                    + "      byte[] " + part + " = new byte[" + part + "Size];\n"
                    + "      Platform.copyMemory(null, " + name + " + " + part + "Begin, " + part
                    + ", Platform.BYTE_ARRAY_OFFSET, " + part + "Size);\n");
            }
            load(at, "complex.StructVector",
                "      if (!(vector instanceof org.apache.arrow.vector.complex.StructVector)) return false;\n" + parts
                + "      return true;\n");
            put(at, ordinal, copies + "      writer.write(" + ordinal
                + ", new org.apache.spark.unsafe.types.VariantVal(value, metadata));\n");
        }

        void struct(int at, int ordinal, StructType type, String parent) {
            StructField[] inner = type.fields();
            if (inner.length == 0) understood = false;
            fields.append("    private " + WRITER + " writer" + at + ";\n");
            init.append("      writer" + at + " = new " + WRITER + "(" + parent + ", " + inner.length + ");\n");
            inner(inner, "writer" + at);
            load(at, "complex.StructVector",
                "      if (!(vector instanceof org.apache.arrow.vector.complex.StructVector)) return false;\n"
                + "      return " + loads + ";\n");
            put(at, ordinal, "      int before = writer.cursor();\n      writer" + at + ".resetRowWriter();\n" + puts
                + "      writer.setOffsetAndSizeFromPreviousCursor(" + ordinal + ", before);\n");
        }
    }
}

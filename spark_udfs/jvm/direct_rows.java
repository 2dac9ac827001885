// Comes in: a plan with one of our Python functions. Goes out: two operators, one that runs the same function and hands on the
// Arrow batches it yields, and one above that makes rows of their memory. Compiled in the running JVM (direct_rows.py).
//
// Spark's own operator asks every value of every column through four layers, and on the way in it measures a batch anew
// with every row. Here operators above become one piece of code with the reading of the columns (whole-stage code
// generation): of what they do not ask nothing is read, and no row is written unless somebody needs one. Where there is
// nothing above, rows are written column by column. The bytes of a batch on its way in are the sum of its rows'. What runs in tasks travels as source: executors need nothing.
// What is not understood here is left to Spark's operator, a whole query or a single batch.
package formatter.spark;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.api.python.ChainedPythonFunctions;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.VariableValue;
import org.apache.spark.sql.catalyst.plans.logical.ArrowEvalPython;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapInArrow;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.CodegenSupport;
import org.apache.spark.sql.execution.PlanLater;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.UnaryExecNode;
import org.apache.spark.sql.execution.WholeStageCodegenEvaluatorFactory;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import org.apache.spark.sql.execution.python.ArrowPythonRunner;
import org.apache.spark.sql.execution.python.MapInArrowExec;
import org.apache.spark.sql.types.*;
import org.slf4j.LoggerFactory;
import scala.Function1;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

public class FormatterDirectRows extends SparkStrategy {
    static final String SWITCH = "spark.formatter.directRows.enabled";
    static final String OURS = "formatter.";
    static final String RECORDS = "formatter.records";
    static final String READS_FILES = "formatter.read";
    static final String[] COUNTED = {"bytes", "records", "rejects", "nulled"};  // as metrics.py calls them
    static final long RECORD_BATCH_BYTES = 1L << 20;
    final String batchesTask, rowsTask;  // batches_task.java, direct_rows_task.java

    public FormatterDirectRows(String batchesTask, String rowsTask) {
        this.batchesTask = batchesTask;
        this.rowsTask = rowsTask;
    }

    public Seq apply(LogicalPlan plan) {
        ArrayList planned = new ArrayList();
        if ("true".equals(plan.conf().getConfString(SWITCH, "false"))) {
            SparkPlan found = plan instanceof Project ? projected((Project) plan)
                : plan instanceof ArrowEvalPython ? rowsOf(RowShapes.beside((ArrowEvalPython) plan, null), true)
                : plan instanceof MapInArrow && isOurs((MapInArrow) plan) ? rowsOf((MapInArrow) plan, false) : null;
            if (found != null) planned.add(found);
        }
        return seq(planned);
    }

    static boolean isOurs(MapInArrow map) {
        boolean plain = !map.isBarrier() && map.profile().isEmpty() && map.functionExpr() instanceof PythonUDF;
        return plain && ((PythonUDF) map.functionExpr()).name().startsWith(OURS);
    }

    SparkPlan rowsOf(MapInArrow map, boolean isScalar) {
        if (map == null) return null;
        return new FormatterRowsExec(new FormatterMapInArrowExec((Expression) map.functionExpr(), map.output(),
            isScalar ? inputs((Project) map.child()) : new PlanLater(map.child()), false, map.profile(), batchesTask), rowsTask);
    }

    // RowShapes made this projection, so it is in no logical plan. Adaptive execution looks there for what a stage was planned for
    // (a cached table below, say): not finding it, it would run that stage anew without end.
    static SparkPlan inputs(Project made) { return new ProjectExec(made.projectList(), new PlanLater((LogicalPlan) made.child())); }

    // ----------------------------------------------------------------------- functions in the shape that operators like

    // A projection above one of our functions, or above another that only renames: of structs that are asked for fields alone
    // the fields leave the function, and nobody writes the struct. Null where nothing is gained.
    SparkPlan projected(Project project) {
        List named = RowShapes.list(project.projectList());
        LogicalPlan below = (LogicalPlan) project.child();
        if (below instanceof Project) {
            HashMap renamed = RowShapes.renamed((Project) below);
            if (renamed == null) return null;
            named = RowShapes.replaced(named, renamed);
            below = (LogicalPlan) below.children().head();
        }
        boolean isScalar = below instanceof ArrowEvalPython;
        MapInArrow map = isScalar ? RowShapes.beside((ArrowEvalPython) below, named)
            : below instanceof MapInArrow && isOurs((MapInArrow) below) ? (MapInArrow) below : null;
        if (map == null) return null;
        RowShapes.Fields fields = new RowShapes.Fields(RowShapes.list(map.output()));
        for (int i = 0; i < named.size(); i++) fields.look((Expression) named.get(i));
        if (fields.isEmpty()) return isScalar ? new ProjectExec(seq(named), rowsOf(map, true)) : null;
        return new ProjectExec(seq(fields.replaced(named)), rowsOf(fields.apart(map), isScalar));
    }

    // Why no task could run its code here; null where each can.
    public String unfit() {
        try {
            Class[] operators = {FormatterMapInArrowExec.class, FormatterRowsExec.class};
            for (int i = 0; i < operators.length; i++) {
                Method[] methods = operators[i].getMethods();
                for (int k = 0; k < methods.length; k++)
                    if (Modifier.isAbstract(methods[k].getModifiers())) return "no " + methods[k];
            }
            CodeGenerator.compile(code(batchesTask));
            return null;
        } catch (Throwable unknownHere) {
            return unknownHere.toString();
        }
    }

    static CodeAndComment code(String text) {
        return new CodeAndComment(text, CollectionConverters.asScala(new HashMap()));
    }

    static Seq seq(List values) { return CollectionConverters.asScala(values).toSeq(); }

    static Seq one(Object value) { return seq(Arrays.asList(new Object[] {value})); }

    // What an RDD becomes by code that is compiled where it runs.
    static RDD mapped(RDD rows, SparkPlan plan, CodeAndComment code, Object[] references) {
        WholeStageCodegenEvaluatorFactory factory = new WholeStageCodegenEvaluatorFactory(
            new scala.util.Right(code),
            SQLMetrics.createTimingMetric(plan.session().sparkContext(), "duration", -1L), references);
        return rows.mapPartitionsWithEvaluator(factory, scala.reflect.ClassTag$.MODULE$.apply(InternalRow.class));
    }

    // Each of its rows carries a batch, for FormatterRows to read.
    public static class FormatterMapInArrowExec extends MapInArrowExec {
        final String task;
        final MapInArrowExec sparks;
        private transient SQLMetric[] counts;  // in the order of COUNTED
        private transient Map named;

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

        // What its tasks count, for a person: next to what Spark counts of batches on their way.
        public Map metrics() {
            if (named == null) {
                SparkContext context = session().sparkContext();
                counts = new SQLMetric[] {
                    SQLMetrics.createSizeMetric(context, "bytes parsed", -1L), SQLMetrics.createMetric(context, "records"),
                    SQLMetrics.createMetric(context, "rejected records"), SQLMetrics.createMetric(context, "values made null")};
                named = pythonMetrics();
                for (int i = 0; i < counts.length; i++) named = (Map) named.updated("formatter." + COUNTED[i], counts[i]);
            }
            return named;
        }

        // Small values are copied several times on their way: a batch that stays in the cache is the faster one.
        long mostBytes(PythonUDF udf) {
            long configured = conf().arrowMaxBytesPerBatch();
            return udf.name().startsWith(RECORDS) ? Math.min(configured, RECORD_BATCH_BYTES) : configured;
        }

        private SQLMetric[] counts() {
            metrics();
            return counts;
        }

        public RDD doExecute() {
            PythonUDF udf = (PythonUDF) func();
            Tuple2 call = new Tuple2(new ChainedPythonFunctions(one(udf.func())), Long.valueOf(udf.resultId().id()));
            StructField[] wrapped = {new StructField("struct", child().schema(), true, Metadata.empty())};
            Object[] references = {
                one(call), Integer.valueOf(udf.evalType()), new StructType(wrapped), conf().sessionLocalTimeZone(),
                Boolean.valueOf(conf().arrowUseLargeVarTypes()), ArrowPythonRunner.getPythonRunnerConfMap(conf()),
                pythonMetrics(), org$apache$spark$sql$execution$python$MapInBatchExec$$jobArtifactUUID(),
                org$apache$spark$sql$execution$python$MapInBatchExec$$sessionUUID(),
                Integer.valueOf(conf().arrowMaxRecordsPerBatch()), Long.valueOf(mostBytes(udf)),
                Boolean.valueOf(conf().pysparkArrowValidateSchema()), udf.dataType(), COUNTED, counts(),
                Boolean.valueOf(udf.name().startsWith(READS_FILES))};
            return mapped(child().execute(), this, code(task), references);
        }
    }

    // Rows of the batches below: as variables of the code that operators above are part of, or written.
    public static class FormatterRowsExec extends SparkPlan implements UnaryExecNode, CodegenSupport {
        final SparkPlan batches;
        final String task;
        private transient CodegenSupport above;

        public FormatterRowsExec(SparkPlan child, String task) {
            this.batches = child;
            this.task = task;
        }

        FormatterMapInArrowExec function() {
            SparkPlan found = batches;
            while (!(found instanceof FormatterMapInArrowExec)) found = (SparkPlan) found.children().head();
            return (FormatterMapInArrowExec) found;
        }

        public Object writeReplace() { return function().sparks; }

        public TreeNode child() { return batches; }
        public Seq children() { return one(batches); }
        public Seq output() { return batches.output(); }
        public Partitioning outputPartitioning() { return batches.outputPartitioning(); }
        public int productArity() { return 1; }
        public Object productElement(int at) { return batches; }
        public boolean canEqual(Object other) { return other instanceof FormatterRowsExec; }
        public Seq otherCopyArgs() { return one(task); }

        public boolean equals(Object other) {
            return other instanceof FormatterRowsExec && batches.equals(((FormatterRowsExec) other).batches);
        }

        public TreeNode withNewChildInternal(TreeNode child) { return new FormatterRowsExec((SparkPlan) child, task); }

        public TreeNode withNewChildrenInternal(IndexedSeq children) {
            return withNewChildInternal((TreeNode) children.head());
        }

        public TreeNode mapChildren(Function1 function) {
            TreeNode changed = (TreeNode) function.apply(batches);
            if (changed == batches) return this;
            TreeNode result = withNewChildInternal(changed);
            result.copyTagsFrom(this);
            return result;
        }

        StructField[] fields() { return ((StructType) function().func().dataType()).fields(); }

        public RDD doExecute() {
            CodeAndComment code = code(task);
            try {
                CodeGenerator.compile(code);
            } catch (Throwable unknownHere) {
                LoggerFactory.getLogger("spark_udfs").warn("rows come by Spark's own operator: " + unknownHere);
                return function().sparks.execute();
            }
            return mapped(batches.execute(), this, code, new Object[] {output(), ColumnsSource.stored(fields())});
        }

        // ------------------------------------------------------------------------------- whole-stage code generation

        public CodegenSupport parent() { return above; }
        public void parent_$eq(CodegenSupport parent) { above = parent; }
        public boolean canCheckLimitNotReached() { return true; }
        public boolean supportCodegen() { return ColumnsSource.reads(fields()); }

        private boolean isAlone() { return above instanceof WholeStageCodegenExec; }

        public Seq inputRDDs() { return one(isAlone() ? doExecute() : batches.execute()); }

        public String doProduce(CodegenContext context) {
            String input = state(context, "scala.collection.Iterator", "input", " = inputs[0];");
            if (isAlone()) {  // nobody reads columns: rows as they are written, without a list of them in between
                String does = " throws java.io.IOException { return ";
                context.addNewFunction("hasNext", "public boolean hasNext()" + does + input + ".hasNext(); }", true);
                context.addNewFunction("next", "public InternalRow next() { return (InternalRow) " + input + ".next(); }", true);
                return "";
            }
            ColumnsSource source = new ColumnsSource(fields());
            String name = context.freshName("Columns"), load = context.freshName("load"), at = context.freshName("at");
            context.addInnerClass(source.text(name));
            String columns = state(context, name, "columns", " = new " + name + "();");
            String row = state(context, "int", "row", " = 0;"), rows = state(context, "int", "rows", " = 0;");
            load = context.addNewFunction(load, "private boolean " + load + "() {\n"
                + "  while (" + row + " == " + rows + ") {\n"
                + "    if (!" + input + ".hasNext()) return false;\n"
                + "    org.apache.spark.sql.vectorized.ColumnarBatch batch =\n"
                + "      (org.apache.spark.sql.vectorized.ColumnarBatch) ((InternalRow) " + input + ".next()).get(0, null);\n"
                + "    if (!" + columns + ".load((" + ColumnsSource.VECTOR + ") batch.column(0)))\n"
                + "      throw new IllegalStateException(\"spark: batches of another type than declared;\"\n"
                + "        + \" set " + SWITCH + "=false\");\n"
                + "    " + row + " = 0;\n    " + rows + " = batch.numRows();\n  }\n  return true;\n}\n", true);
            ArrayList variables = new ArrayList();
            for (int i = 0; i < source.columns.length; i++) variables.add(variable(context, columns, at, source.columns[i]));
            context.currentVars_$eq(null);
            return "while (" + limitNotReachedCond() + " (" + row + " < " + rows + " || " + load + "())) {\n"
                + "  int " + at + " = " + row + "++;\n"
                + consume(context, seq(variables), null) + "\n"
                + shouldStopCheckCode() + "\n}\n";
        }

        private static String state(CodegenContext context, String type, String name, final String init) {
            return context.addMutableState(type, name, new AbstractFunction1() {
                public Object apply(Object variable) { return variable + init; }
            }, true, true);
        }

        private static ExprCode variable(CodegenContext context, String columns, String at, Column column) {
            String isNull = context.freshName("isNull"), value = context.freshName("value");
            String read = columns + ".get" + column.at + "(" + at + ")";
            if (column.type instanceof BinaryType) read += ".getBytes()";
            if (column.type instanceof DecimalType)
                read = "Decimal.createUnsafe(" + read + ", " + ((DecimalType) column.type).precision() + ", "
                    + ((DecimalType) column.type).scale() + ")";
            String code = "boolean " + isNull + " = " + columns + ".isNull" + column.at + "(" + at + ");\n"
                + CodeGenerator.javaType(column.type) + " " + value + " = " + isNull + " ? "
                + CodeGenerator.defaultValue(column.type, true) + " : " + read + ";\n";
            return new ExprCode(new CodeBlock(one(code), seq(new ArrayList())), new VariableValue(isNull, boolean.class),
                new VariableValue(value, CodeGenerator.javaClass(column.type)));
        }
    }
}

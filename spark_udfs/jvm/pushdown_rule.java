// Comes in: an optimized logical plan. Goes out: the same plan, where our Python functions yield only the columns that
// the plan above them reads, and are offered the filter that stands above them. Compiled in the running JVM (enabling.py).
//
// The filter itself stays where it is: what the function drops is only what the filter would drop anyway, so nothing
// depends on the function taking the offer. But counts, and smallest, largest and sums of whole numbers, of all rows or of
// those of a filter that is decided alike here and there, are taken in the tasks, by groups if need be: only their partial
// results leave.
// What is not understood here is left alone.
package formatter.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.api.python.SimplePythonFunction;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapInArrow;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.*;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.BigInt;
import scala.runtime.AbstractFunction1;

public class FormatterPushdown extends Rule {
    static final String SWITCH = "spark.formatter.pushdown.enabled";
    static final String OURS = "formatter.";
    static final String READS_FIRST = "formatter.records";
    static final int LONGEST_NOTE = 400;

    public TreeNode apply(TreeNode plan) {
        if (!"true".equals(this.conf().getConfString(SWITCH, "true"))) return plan;
        return rewrite((LogicalPlan) plan);
    }

    public String toString() { return "FormatterPushdown"; }

    LogicalPlan rewrite(LogicalPlan plan) {
        LogicalPlan narrowed = plan instanceof Aggregate ? aggregated((Aggregate) plan) : null;
        if (narrowed == null) narrowed = narrow(plan);
        return (LogicalPlan) (narrowed == null ? plan : narrowed).mapChildren(new AbstractFunction1() {
            public Object apply(Object child) { return rewrite((LogicalPlan) child); }
        });
    }

    // What lies below filters, whose conditions it puts aside, outermost first.
    private static LogicalPlan belowFilters(LogicalPlan plan, List conditions) {
        while (plan instanceof Filter) {
            conditions.add(((Filter) plan).condition());
            plan = ((Filter) plan).child();
        }
        return plan;
    }

    // Of one of our functions that nobody has narrowed yet; null for anything else.
    private static Narrowing narrowingOf(LogicalPlan plan) {
        if (!(plan instanceof MapInArrow) || !(((MapInArrow) plan).functionExpr() instanceof PythonUDF)) return null;
        PythonUDF udf = (PythonUDF) ((MapInArrow) plan).functionExpr();
        if (!udf.name().startsWith(OURS) || udf.name().indexOf('[') >= 0) return null;
        if (!(udf.func() instanceof SimplePythonFunction) || !(udf.dataType() instanceof StructType)) return null;
        return new Narrowing((MapInArrow) plan, udf);
    }

    // An aggregate above one of our functions, projections of plain columns and filters between them.
    private LogicalPlan aggregated(Aggregate aggregate) {
        // What a stream has kept of an aggregate is of the one it was started with.
        if (aggregate.isStreaming()) return null;
        LogicalPlan below = aggregate.child();
        ArrayList filters = new ArrayList();
        while (below instanceof Project || below instanceof Filter) {
            if (below instanceof Filter) {
                below = belowFilters(below, filters);
                continue;
            }
            List projected = CollectionConverters.asJava((scala.collection.Seq) ((Project) below).projectList());
            for (int i = 0; i < projected.size(); i++)
                if (!(projected.get(i) instanceof AttributeReference)) return null;
            below = ((Project) below).child();
        }
        Narrowing narrowing = narrowingOf(below);
        if (narrowing == null) return null;
        for (int i = filters.size() - 1; i >= 0; i--)
            if (!narrowing.filters.offerWhole((Expression) filters.get(i))) return null;
        Partials partials = new Partials(narrowing);
        List groups = CollectionConverters.asJava((scala.collection.Seq) aggregate.groupingExpressions());
        for (int i = 0; i < groups.size(); i++)
            if (!partials.group(groups.get(i))) return null;
        LogicalPlan above = (LogicalPlan) aggregate.mapExpressions(partials);
        if (!partials.understood || (partials.requests.isEmpty() && partials.groups.isEmpty())) return null;
        for (int i = 0; i < filters.size(); i++) narrowing.want((Expression) filters.get(i));
        return (LogicalPlan) above.withNewChildren(seq(Arrays.asList(new Object[] {narrowing.apply(partials)})));
    }

    // A projection, filters, or both, right above one of our functions; null for anything else.
    private LogicalPlan narrow(LogicalPlan plan) {
        Project project = plan instanceof Project ? (Project) plan : null;
        ArrayList filters = new ArrayList();
        LogicalPlan below = belowFilters(project == null ? plan : project.child(), filters);
        Narrowing narrowing = below == plan ? null : narrowingOf(below);
        if (narrowing == null) return null;
        MapInArrow map = narrowing.map;
        List named = CollectionConverters.asJava(
            (scala.collection.Seq) (project == null ? map.output() : project.projectList()));
        for (int i = 0; i < named.size(); i++) narrowing.want((Expression) named.get(i));
        for (int i = 0; i < filters.size(); i++) narrowing.want((Expression) filters.get(i));
        for (int i = filters.size() - 1; i >= 0; i--) narrowing.filters.offer((Expression) filters.get(i));
        if (!narrowing.gains()) return null;

        LogicalPlan result = narrowing.apply((Partials) null);
        for (int i = filters.size() - 1; i >= 0; i--)
            result = new Filter(narrowing.adapt((Expression) filters.get(i)), result);
        if (project == null) return result;
        List left = CollectionConverters.asJava((scala.collection.Seq) result.output());
        ArrayList adapted = new ArrayList();
        for (int i = 0; i < named.size(); i++) adapted.add(narrowing.adapt((Expression) named.get(i)));
        return adapted.equals(left) ? result : new Project(seq(adapted), result);
    }

    static Seq seq(List values) { return CollectionConverters.asScala(values).toSeq(); }

    // As Spark guesses it where it knows no values.
    static long rowBytes(List attributes) {
        long bytes = 8;
        for (int i = 0; i < attributes.size(); i++) bytes += ((Attribute) attributes.get(i)).dataType().defaultSize();
        return bytes;
    }

    // A function that yields less of its input than it was written to is planned with as so much smaller. Spark's own takes
    // any function's output to be as large as its input, and a projection above it to be smaller.
    public static class Narrowed extends MapInArrow {
        final Long narrow, wide;

        public Narrowed(Expression function, Seq output, LogicalPlan child, boolean isBarrier, Option profile, Long narrow,
            Long wide) {
            super(function, output, child, isBarrier, profile);
            this.narrow = narrow;
            this.wide = wide;
        }

        public Statistics stats() {
            Statistics whole = super.stats();
            BigInt bytes = whole.sizeInBytes().$times(BigInt.apply(narrow.longValue())).$div(BigInt.apply(wide.longValue()));
            return whole.copy(bytes.max(BigInt.apply(1)), whole.rowCount(), whole.attributeStats(), whole.isRuntime());
        }

        public Seq otherCopyArgs() { return seq(Arrays.asList(new Object[] {narrow, wide})); }

        public MapInArrow withNewChildInternal(LogicalPlan child) {
            return new Narrowed(functionExpr(), output(), child, isBarrier(), profile(), narrow, wide);
        }
    }

    // Makes of each aggregate the same of what the tasks have made of their rows, and notes what they shall make.
    static class Partials extends AbstractFunction1 {
        final Narrowing narrowing;
        final ArrayList groups = new ArrayList();  // positions
        final ArrayList requests = new ArrayList(), attributes = new ArrayList(), notes = new ArrayList();
        boolean understood = true;

        Partials(Narrowing narrowing) { this.narrowing = narrowing; }

        public Object apply(Object node) {
            Expression expression = (Expression) node;
            if (expression instanceof AggregateExpression) return merged((AggregateExpression) expression);
            if (groups.contains(Integer.valueOf(narrowing.position(expression)))) return expression;
            if (expression instanceof Attribute || expression instanceof AggregateFunction) understood = false;
            return expression.mapChildren(this);
        }

        // Values that are one group here are one there.
        boolean group(Object expression) {
            int at = narrowing.position(expression);
            if (at < 0) return false;
            DataType type = ((Expression) expression).dataType();
            if (!PushedFilters.isWhole(type) && !(type instanceof BooleanType) && !(type instanceof DateType)
                && !type.equals(StringType$.MODULE$)) return false;
            if (groups.contains(Integer.valueOf(at))) return true;
            narrowing.want((Expression) expression);
            groups.add(Integer.valueOf(at));
            return true;
        }

        Expression merged(AggregateExpression e) {
            AggregateFunction function = e.aggregateFunction();
            List inputs = CollectionConverters.asJava((scala.collection.Seq) function.children());
            if (e.isDistinct() || e.filter().isDefined() || e.mode() != Complete$.MODULE$) understood = false;
            if (!understood) return e;
            if (function instanceof Count) {
                Object[] request = {"count"};
                for (int i = 0; i < inputs.size(); i++) {
                    Expression input = (Expression) inputs.get(i);
                    if (input instanceof Literal && ((Literal) input).value() != null) continue;
                    int at = inputs.size() == 1 ? narrowing.position(input) : -1;
                    if (at < 0) understood = false;
                    else request = new Object[] {"count", Integer.valueOf(at)};
                }
                Expression rows = partial(request, function, LongType$.MODULE$);
                // Of no partial results the sum is null, and the count is 0.
                return new Coalesce(seq(Arrays.asList(new Object[] {
                    with(e, new Sum(rows)), Literal$.MODULE$.apply(Long.valueOf(0L))})));
            }
            String name = function instanceof Min ? "min" : function instanceof Max ? "max" : "sum";
            Object input0 = inputs.size() == 1 ? inputs.get(0) : null;
            boolean isSum = function instanceof Sum;
            if (isSum && input0 instanceof UnscaledValue) input0 = ((UnscaledValue) input0).child();
            int at = narrowing.position(input0);
            understood = at >= 0 && (isSum || function instanceof Min || function instanceof Max)
                && (isSum && input0 != inputs.get(0) || PushedFilters.isWhole(((Expression) input0).dataType())
                    || !isSum && isOrdered(((Expression) input0).dataType()));
            if (!understood) return e;
            Expression input = partial(new Object[] {name, Integer.valueOf(at)}, function, function.dataType());
            return with(e, (Expression) function.withNewChildren(seq(Arrays.asList(new Object[] {input}))));
        }

        // Types whose smallest and largest are found there: of floats where there are no groups, since NaN is a case of its own.
        boolean isOrdered(DataType type) {
            return type instanceof DateType || type instanceof TimestampType || type instanceof TimestampNTZType
                || groups.isEmpty() && (type instanceof DoubleType || type instanceof FloatType);
        }

        static Expression with(AggregateExpression e, Expression function) {
            return (Expression) e.withNewChildren(seq(Arrays.asList(new Object[] {function})));
        }

        Attribute partial(Object[] request, AggregateFunction function, DataType type) {
            if (request.length > 1) narrowing.want((Expression) narrowing.output.get(((Integer) request[1]).intValue()));
            Attribute attribute = new AttributeReference("partial" + requests.size(), type, true, Metadata.empty(),
                NamedExpression$.MODULE$.newExprId(), seq(new ArrayList()));
            requests.add(Arrays.asList(request));
            attributes.add(attribute);
            notes.add(function.sql());
            return attribute;
        }
    }

    static class Narrowing extends AbstractFunction1 {
        final MapInArrow map;
        final PythonUDF udf;
        final List output;
        final boolean[] wanted;
        final boolean[] whole;            // of a struct: all of its fields
        final TreeSet[] fields;           // else these
        final Attribute[] replaced;
        final PushedFilters filters;

        Narrowing(MapInArrow map, PythonUDF udf) {
            this.map = map;
            this.udf = udf;
            this.output = CollectionConverters.asJava((scala.collection.Seq) map.output());
            this.filters = new PushedFilters(output);
            this.wanted = new boolean[output.size()];
            this.whole = new boolean[output.size()];
            this.fields = new TreeSet[output.size()];
            this.replaced = new Attribute[output.size()];
            for (int i = 0; i < fields.length; i++) fields[i] = new TreeSet();
        }

        int position(Object expression) { return filters.position(expression); }

        void want(Expression expression) {
            boolean nullness = expression instanceof IsNull || expression instanceof IsNotNull;
            GetStructField get = expression instanceof GetStructField ? (GetStructField) expression : null;
            int at = position(get != null ? get.child() : nullness ? ((UnaryExpression) expression).child() : expression);
            if (at < 0) {
                List children = CollectionConverters.asJava((scala.collection.Seq) expression.children());
                for (int i = 0; i < children.size(); i++) want((Expression) children.get(i));
                return;
            }
            wanted[at] = true;
            if (get != null) fields[at].add(Integer.valueOf(get.ordinal()));
            else if (!nullness) whole[at] = true;
        }

        boolean narrowsStruct(int at) {
            if (!wanted[at] || whole[at]) return false;
            DataType type = ((Attribute) output.get(at)).dataType();
            if (!(type instanceof StructType)) return false;
            if (fields[at].isEmpty()) fields[at].add(Integer.valueOf(0));  // its nulls are wanted, none of its values
            return fields[at].size() < ((StructType) type).fields().length;
        }

        boolean gains() {
            boolean gain = !filters.predicates.isEmpty();
            for (int i = 0; i < wanted.length; i++) gain |= !wanted[i] || narrowsStruct(i);
            return gain;
        }

        // `partials`: what the tasks are to make of the rows; null: they yield them.
        LogicalPlan apply(Partials partials) {
            StructField[] types = ((StructType) udf.dataType()).fields();
            ArrayList attributes = new ArrayList(), kept = new ArrayList(), names = new ArrayList();
            ArrayList columns = new ArrayList();
            HashMap nested = new HashMap();
            for (int i = 0; i < wanted.length; i++) {
                if (!wanted[i]) continue;
                Attribute attribute = (Attribute) output.get(i);
                StructField type = types[i];
                String name = attribute.name();
                if (narrowsStruct(i)) {
                    StructField[] all = ((StructType) attribute.dataType()).fields();
                    StructField[] some = new StructField[fields[i].size()];
                    Object[] ordinals = fields[i].toArray();
                    for (int k = 0; k < ordinals.length; k++) some[k] = all[((Integer) ordinals[k]).intValue()];
                    StructType narrow = new StructType(some);
                    replaced[i] = new AttributeReference(attribute.name(), narrow, attribute.nullable(),
                        attribute.metadata(), attribute.exprId(), attribute.qualifier());
                    attribute = replaced[i];
                    type = new StructField(type.name(), narrow, type.nullable(), type.metadata());
                    nested.put(String.valueOf(i), ordinals);
                    name += "(" + String.join(", ", narrow.fieldNames()) + ")";
                }
                columns.add(Integer.valueOf(i));
                attributes.add(attribute);
                kept.add(type);
                names.add(name);
            }
            if (partials != null) {
                attributes = new ArrayList();
                kept = new ArrayList();
                for (int i = 0; i < partials.groups.size(); i++) {
                    attributes.add(output.get(((Integer) partials.groups.get(i)).intValue()));
                    kept.add(types[((Integer) partials.groups.get(i)).intValue()]);
                }
                for (int i = 0; i < partials.attributes.size(); i++) {
                    Attribute one = (Attribute) partials.attributes.get(i);
                    attributes.add(one);
                    kept.add(new StructField(one.name(), one.dataType(), true, Metadata.empty()));
                }
            } else if (attributes.isEmpty()) {  // only how many rows there are: older versions of Spark lose it without a column
                StructField rows = new StructField("rows", BooleanType$.MODULE$, true, Metadata.empty());
                kept.add(rows);
                attributes.add(new AttributeReference(rows.name(), rows.dataType(), true, rows.metadata(),
                    NamedExpression$.MODULE$.newExprId(), seq(new ArrayList())));
            }
            HashMap request = new HashMap();
            request.put("columns", columns);
            request.put("nested", nested);
            request.put("filters", filters.predicates);
            request.put("partials", partials == null ? null : partials.requests);
            request.put("groups", partials == null ? null : partials.groups);
            String asked = filters.notes.isEmpty() ? "" : "; filters: " + String.join(" and ", filters.notes);
            if (partials != null)
                asked += "; in tasks: " + (partials.notes.isEmpty() ? "groups" : String.join(", ", partials.notes));
            String note = "[columns: " + String.join(", ", names) + asked + "]";
            if (note.length() > LONGEST_NOTE) note = note.substring(0, LONGEST_NOTE) + "...]";

            StructField[] array = new StructField[kept.size()];
            for (int i = 0; i < array.length; i++) array[i] = (StructField) kept.get(i);
            SimplePythonFunction narrowed = PythonCall.of(
                "spark_udfs.pushdown.narrowing", "narrowed", (SimplePythonFunction) udf.func(), request);
            Seq inputs = inputs();
            LogicalPlan child = inputs == udf.children() ? map.child() : new Project(inputs, map.child());
            PythonUDF replacement = new PythonUDF(udf.name() + note, narrowed, new StructType(array), inputs,
                udf.evalType(), udf.udfDeterministic(), udf.resultId());
            return new Narrowed(replacement, seq(attributes), child, map.isBarrier(), map.profile(),
                Long.valueOf(rowBytes(attributes)), Long.valueOf(rowBytes(output)));
        }

        // Of a function whose first input is all it reads: that, and those that are to come out again by their names.
        Seq inputs() {
            if (!udf.name().equals(READS_FIRST)) return udf.children();
            List inputs = CollectionConverters.asJava((scala.collection.Seq) udf.children());
            ArrayList kept = new ArrayList();
            for (int i = 0; i < inputs.size(); i++) {
                if (!(inputs.get(i) instanceof Attribute)) return udf.children();
                boolean leaves = i == 0;
                for (int k = 0; k < wanted.length; k++)
                    leaves |= wanted[k]
                        && ((Attribute) output.get(k)).name().equals(((Attribute) inputs.get(i)).name());
                if (leaves) kept.add(inputs.get(i));
            }
            return kept.size() == inputs.size() ? udf.children() : seq(kept);
        }

        // Expressions as they read on the narrowed output: attributes of narrowed structs have another type.
        Expression adapt(Expression expression) { return (Expression) apply(expression); }

        public Object apply(Object node) {
            Expression expression = (Expression) node;
            if (expression instanceof GetStructField) {
                GetStructField get = (GetStructField) expression;
                int at = position(get.child());
                if (at >= 0 && replaced[at] != null) {
                    int ordinal = fields[at].headSet(Integer.valueOf(get.ordinal())).size();
                    return new GetStructField(replaced[at], ordinal, get.name());
                }
            }
            int at = position(expression);
            if (at >= 0) return replaced[at] != null ? replaced[at] : expression;
            return expression.mapChildren(this);
        }
    }
}

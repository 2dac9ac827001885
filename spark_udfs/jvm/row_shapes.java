// Comes in: one of our functions, and what the plan above reads of it. Goes out: the same function in the shape that direct_rows.java
// likes: of batches in place of values, fields in place of structs. What it is in Python is row_shapes.py's to make.
package formatter.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.api.python.SimplePythonFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.plans.logical.ArrowEvalPython;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MapInArrow;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.*;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

class RowShapes {
    static final String VALUES = "formatter.values";
    static final int MAP_ARROW = 207;  // SQL_MAP_ARROW_ITER_UDF

    static Seq seq(List values) { return CollectionConverters.asScala(values).toSeq(); }

    static List list(scala.collection.Seq values) { return CollectionConverters.asJava(values); }

    // By what each is called there; null where more is done than renaming.
    static HashMap renamed(Project project) {
        HashMap renamed = new HashMap();
        List named = list(project.projectList());
        for (int i = 0; i < named.size(); i++) {
            Expression one = (Expression) named.get(i);
            if (one instanceof Alias && ((Alias) one).child() instanceof Attribute)
                renamed.put(Long.valueOf(((Alias) one).exprId().id()), ((Alias) one).child());
            else if (!(one instanceof Attribute)) return null;
        }
        return renamed;
    }

    // A column keeps its name and its identity, whatever it is taken from.
    static List replaced(List named, final HashMap renamed) {
        ArrayList all = new ArrayList();
        for (int i = 0; i < named.size(); i++) {
            Expression one = (Expression) named.get(i);
            if (one instanceof Attribute && renamed.containsKey(Long.valueOf(((Attribute) one).exprId().id()))) {
                Attribute as = (Attribute) one;
                all.add(new Alias((Expression) renamed.get(Long.valueOf(as.exprId().id())), as.name(), as.exprId(),
                    as.qualifier(), Option.apply(as.metadata()), seq(new ArrayList())));
            } else {
                all.add(one.transform(new Replacing() {
                    Object replacement(Object node) {
                        return node instanceof Attribute ? renamed.get(Long.valueOf(((Attribute) node).exprId().id())) : null;
                    }
                }));
            }
        }
        return all;
    }

    // What it has no replacement for stays as it is.
    abstract static class Replacing extends scala.runtime.AbstractPartialFunction {
        abstract Object replacement(Object node);
        public boolean isDefinedAt(Object node) { return replacement(node) != null; }
        public Object applyOrElse(Object node, Function1 otherwise) {
            Object found = replacement(node);
            return found == null ? otherwise.apply(node) : found;
        }
    }

    // A function of payloads alone becomes one of batches, which the columns that `named` reads beside it (null: all) go along
    // with: Spark's own operator keeps them in a queue, and joins them row by row. Null where it is none of ours, or a column
    // is not read as it lies.
    static MapInArrow beside(ArrowEvalPython eval, List named) {
        if (eval.udfs().length() != 1) return null;
        PythonUDF udf = (PythonUDF) eval.udfs().head();
        if (!udf.name().equals(VALUES) || !(udf.func() instanceof SimplePythonFunction)) return null;
        Attribute result = (Attribute) eval.resultAttrs().head();
        List there = list(((LogicalPlan) eval.child()).output());
        ArrayList kept = new ArrayList(), inputs = new ArrayList(), types = new ArrayList();
        Object payload = udf.children().head();
        inputs.add(alias((Expression) payload, "payload"));
        for (int i = 0; i < there.size(); i++) {
            Attribute column = (Attribute) there.get(i);
            if (named != null && !isRead(column, named)) continue;
            if (ColumnsSource.stored(column.dataType()) == null) return null;
            if (column.dataType() instanceof StringType && !column.dataType().equals(StringType$.MODULE$)) return null;
            boolean again = payload instanceof Attribute && ((Attribute) payload).exprId().equals(column.exprId());
            String name = again ? "payload" : "kept" + kept.size();
            kept.add(column);
            if (!again) inputs.add(alias(column, name));
            types.add(new StructField(name, column.dataType(), true, Metadata.empty()));
        }
        ArrayList output = new ArrayList(kept);
        output.add(result);
        HashMap request = new HashMap();
        request.put("kept", struct(types).fieldNames());
        types.add(new StructField("values", udf.dataType(), true, Metadata.empty()));
        Project child = new Project(seq(inputs), (LogicalPlan) eval.child());
        return new MapInArrow(reshaped(udf, FormatterDirectRows.RECORDS, struct(types), child.output(), request), seq(output), child, false,
            Option.empty());
    }

    static boolean isRead(Attribute column, List named) {
        for (int i = 0; i < named.size(); i++)
            if (((Expression) named.get(i)).references().contains(column)) return true;
        return false;
    }

    static Alias alias(Expression of, String name) {
        return new Alias(of, name, NamedExpression$.MODULE$.newExprId(), seq(new ArrayList()), Option.empty(),
            seq(new ArrayList()));
    }

    static StructType struct(List fields) {
        StructField[] array = new StructField[fields.size()];
        for (int i = 0; i < array.length; i++) array[i] = (StructField) fields.get(i);
        return new StructType(array);
    }

    // The function of batches that row_shapes.py makes of a function.
    static PythonUDF reshaped(PythonUDF udf, String name, StructType type, Seq inputs, HashMap request) {
        SimplePythonFunction made = PythonCall.of(
            "spark_udfs.pushdown.row_shapes", "reshaped", (SimplePythonFunction) udf.func(), request);
        return new PythonUDF(name, made, type, inputs, MAP_ARROW, udf.udfDeterministic(), udf.resultId());
    }

    // Fields of struct columns that are asked for, of structs that nobody asks for whole.
    static class Fields extends Replacing {
        final List output;
        final TreeMap[] asked;  // by position: ordinals, and the columns of theirs
        final boolean[] whole;

        Fields(List output) {
            this.output = output;
            this.asked = new TreeMap[output.size()];
            this.whole = new boolean[output.size()];
            for (int i = 0; i < asked.length; i++) asked[i] = new TreeMap();
        }

        int position(Object expression) {
            if (!(expression instanceof Attribute)) return -1;
            for (int i = 0; i < output.size(); i++)
                if (((Attribute) output.get(i)).exprId().equals(((Attribute) expression).exprId())) return i;
            return -1;
        }

        void look(Expression e) {
            if (e instanceof GetStructField && position(((GetStructField) e).child()) >= 0) {
                GetStructField get = (GetStructField) e;
                int at = position(get.child());
                StructField field = ((StructType) ((Attribute) output.get(at)).dataType()).fields()[get.ordinal()];
                if (!asked[at].containsKey(Integer.valueOf(get.ordinal())))
                    asked[at].put(Integer.valueOf(get.ordinal()), new AttributeReference(field.name(), field.dataType(), true,
                        Metadata.empty(), NamedExpression$.MODULE$.newExprId(), seq(new ArrayList())));
                return;
            }
            if (position(e) >= 0) whole[position(e)] = true;
            List children = list(e.children());
            for (int i = 0; i < children.size(); i++) look((Expression) children.get(i));
        }

        boolean isApart(int at) { return !whole[at] && !asked[at].isEmpty(); }

        boolean isEmpty() {
            for (int i = 0; i < asked.length; i++)
                if (isApart(i)) return false;
            return true;
        }

        Object replacement(Object node) {
            if (!(node instanceof GetStructField)) return null;
            int at = position(((GetStructField) node).child());
            return at < 0 || !isApart(at) ? null : asked[at].get(Integer.valueOf(((GetStructField) node).ordinal()));
        }

        List replaced(List named) {
            ArrayList all = new ArrayList();
            for (int i = 0; i < named.size(); i++) all.add(((Expression) named.get(i)).transform(this));
            return all;
        }

        MapInArrow apart(MapInArrow map) {
            PythonUDF udf = (PythonUDF) map.functionExpr();
            StructField[] types = ((StructType) udf.dataType()).fields();
            ArrayList columns = new ArrayList(), fields = new ArrayList();
            HashMap request = new HashMap(), ordinals = new HashMap();
            for (int i = 0; i < types.length; i++) {
                if (!isApart(i)) {
                    columns.add(output.get(i));
                    fields.add(types[i]);
                    continue;
                }
                ordinals.put(String.valueOf(i), new ArrayList(asked[i].keySet()));
                Object[] apart = asked[i].values().toArray();
                for (int k = 0; k < apart.length; k++) {
                    Attribute one = (Attribute) apart[k];
                    columns.add(one);
                    fields.add(new StructField(types[i].name() + "." + one.name(), one.dataType(), true, Metadata.empty()));
                }
            }
            request.put("apart", ordinals);
            return new MapInArrow(reshaped(udf, udf.name(), struct(fields), udf.children(), request), seq(columns),
                (LogicalPlan) map.child(), map.isBarrier(), map.profile());
        }
    }
}

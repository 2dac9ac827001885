// Comes in: conditions above one of our functions (pushdown_rule.java), and its output. Goes out: those that the function can be
// offered, as predicates.py reads them, and how a person reads them.
//
// What is offered is true wherever the condition is; what is offered whole is decided there just as here. What is not
// understood here is not offered.
package formatter.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.UTF8String;
import scala.jdk.javaapi.CollectionConverters;

class PushedFilters {
    static final int MOST_ALTERNATIVES = 16;  // of an OR of ANDs; predicates.py takes no more
    final List output;
    final ArrayList predicates = new ArrayList();
    final ArrayList notes = new ArrayList();

    PushedFilters(List output) { this.output = output; }

    int position(Object expression) {
        if (!(expression instanceof AttributeReference)) return -1;
        for (int i = 0; i < output.size(); i++)
            if (((Attribute) output.get(i)).exprId().equals(((AttributeReference) expression).exprId())) return i;
        return -1;
    }

    // A condition that is decided there as it is here, whatever the rows: nobody asks it again.
    boolean offerWhole(Expression condition) {
        alternatives *= alternativesOf(condition);
        if (alternatives == 0 || alternatives > MOST_ALTERNATIVES) return false;
        offer(condition);
        return true;
    }

    int alternatives = 1;

    // In how many ways it may hold; 0 if part of it is not decided alike.
    int alternativesOf(Expression e) {
        if (e instanceof And || e instanceof Or) {
            int left = alternativesOf((Expression) ((BinaryOperator) e).left());
            int right = alternativesOf((Expression) ((BinaryOperator) e).right());
            if (left == 0 || right == 0) return 0;
            int both = e instanceof And ? left * right : left + right;
            return both > MOST_ALTERNATIVES ? 0 : both;
        }
        int before = notes.size();
        List test = predicate(e);
        while (notes.size() > before) notes.remove(notes.size() - 1);
        if (test == null) return 0;
        DataType type = ((Attribute) output.get(((Integer) test.get(1)).intValue())).dataType();
        return isWhole(type) || type instanceof BooleanType || type instanceof DateType
            || type.equals(StringType$.MODULE$) ? 1 : 0;
    }

    void offer(Expression condition) {
        List tree = predicate(condition);
        if (tree != null) predicates.add(tree);
    }

    static boolean isWhole(DataType type) {
        return type instanceof ByteType || type instanceof ShortType || type instanceof IntegerType
            || type instanceof LongType;
    }

    // A condition that is true wherever the given one is: an operator, and what it is of; null if none is known.
    List predicate(Expression e) {
        if (e instanceof And) {
            List left = predicate(((And) e).left()), right = predicate(((And) e).right());
            if (left == null) return right;
            return right == null ? left : list("and", left, right);
        }
        if (e instanceof Or) {
            int before = notes.size();
            List left = predicate(((Or) e).left());
            List right = left == null ? null : predicate(((Or) e).right());
            while (notes.size() > before) notes.remove(notes.size() - 1);
            if (right == null) return null;
            notes.add(e.sql());
            return list("or", left, right);
        }
        List test = test(e);
        if (test != null) notes.add(e.sql());
        return test;
    }

    List test(Expression e) {
        if (e instanceof IsNull) return test(((IsNull) e).child(), "is_null", null);
        if (e instanceof IsNotNull) return test(((IsNotNull) e).child(), "is_not_null", null);
        if (e instanceof AttributeReference) return test(e, "==", Boolean.TRUE);
        if (e instanceof Not) {
            Expression inner = ((Not) e).child();
            if (inner instanceof AttributeReference) return test(inner, "==", Boolean.FALSE);
            return inner instanceof EqualTo ? comparison((BinaryComparison) inner, "!=", "!=") : null;
        }
        if (e instanceof EqualTo || e instanceof EqualNullSafe) return comparison((BinaryComparison) e, "==", "==");
        if (e instanceof LessThan) return comparison((BinaryComparison) e, "<", ">");
        if (e instanceof LessThanOrEqual) return comparison((BinaryComparison) e, "<=", ">=");
        if (e instanceof GreaterThan) return comparison((BinaryComparison) e, ">", "<");
        if (e instanceof GreaterThanOrEqual) return comparison((BinaryComparison) e, ">=", "<=");
        if (e instanceof StartsWith) return partOf((BinaryExpression) e, "starts_with");
        if (e instanceof EndsWith) return partOf((BinaryExpression) e, "ends_with");
        if (e instanceof Contains) return partOf((BinaryExpression) e, "contains");
        if (e instanceof In) {
            ArrayList values = new ArrayList();
            List list = CollectionConverters.asJava((scala.collection.Seq) ((In) e).list());
            for (int i = 0; i < list.size(); i++) {
                if (!(list.get(i) instanceof Literal)) return null;
                values.add(((Literal) list.get(i)).value());
            }
            return oneOf(((In) e).value(), values.iterator());
        }
        if (e instanceof InSet)
            return oneOf(((InSet) e).child(), CollectionConverters.asJava(((InSet) e).hset().iterator()));
        return null;
    }

    List comparison(BinaryComparison e, String operator, String mirrored) {
        Expression left = (Expression) e.left(), right = (Expression) e.right();
        if (left instanceof Literal) return compared(right, mirrored, (Literal) left);
        return right instanceof Literal ? compared(left, operator, (Literal) right) : null;
    }

    List partOf(BinaryExpression e, String operator) {
        Expression text = (Expression) e.left(), part = (Expression) e.right();
        return part instanceof Literal ? compared(text, operator, (Literal) part) : null;
    }

    List compared(Expression column, String operator, Literal literal) {
        if (literal.value() == null || !literal.dataType().equals(column.dataType())) return null;
        Object value = value(column.dataType(), literal.value());
        return value == null ? null : test(column, operator, value);
    }

    List oneOf(Expression column, Iterator each) {
        ArrayList values = new ArrayList();
        while (each.hasNext()) {
            Object found = each.next();
            if (found == null) continue;
            Object value = value(column.dataType(), found);
            if (value == null) return null;
            values.add(value);
        }
        return test(column, "in", values);
    }

    List test(Expression column, String operator, Object value) {
        int at = position(column);
        return at < 0 ? null : list(operator, Integer.valueOf(at), value);
    }

    static List list(Object first, Object second, Object third) {
        return Arrays.asList(third == null ? new Object[] {first, second} : new Object[] {first, second, third});
    }

    // Of types whose order and equality are the same here and there; how others compare is not offered.
    static Object value(DataType type, Object value) {
        if (type instanceof BooleanType || type instanceof ByteType || type instanceof ShortType
            || type instanceof IntegerType || type instanceof LongType || type instanceof DateType
            || type instanceof TimestampType || type instanceof TimestampNTZType)
            return value;
        if (type instanceof FloatType || type instanceof DoubleType) {
            double number = ((Number) value).doubleValue();
            return Double.isNaN(number) || Double.isInfinite(number) ? null : Double.valueOf(number);
        }
        if (type instanceof DecimalType) return ((Decimal) value).toJavaBigDecimal().toPlainString();
        if (!type.equals(StringType$.MODULE$)) return null;
        String text = ((UTF8String) value).toString();
        return UTF8String.fromString(text).equals(value) ? text : null;  // it may be no UTF-8
    }
}

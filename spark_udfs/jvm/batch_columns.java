// Comes in: the types of a batch's columns. Goes out: source of what reads them where they are, text that direct_rows.java makes
// tasks' code of; and how they lie there, for the task that writes rows (direct_rows_task.java).
//
// A column is understood if Arrow keeps its values as Spark does, one behind the other; one that is not makes a batch go by
// Spark's own projection.
package formatter.spark;

import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.types.*;

// A column of a batch, by its position.
class Column {
    final int at;
    final DataType type;

    Column(int at, DataType type) {
        this.at = at;
        this.type = type;
    }
}

// The source of a class that reads the memory of a batch with columns of these types, if none of them has others inside.
class ColumnsSource {
    static final String VECTOR = "org.apache.spark.sql.vectorized.ArrowColumnVector";
    static final int TEXT_KIND = 6, STRUCT_KIND = 7, VARIANT_KIND = 8;
    static final StructField[] VARIANT = {
        new StructField("value", DataTypes.BinaryType, false, Metadata.empty()),
        new StructField("metadata", DataTypes.BinaryType, false, Metadata.empty()),
    };
    final Column[] columns;
    private final StringBuilder text = new StringBuilder();

    ColumnsSource(StructField[] fields) {
        columns = new Column[fields.length];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = new Column(i, fields[i].dataType());
            Object[] stored = stored(columns[i].type);
            boolean isText = stored[1].equals("Text");
            loading(i, (String) stored[0], isText);
            if (isText) readingText(i);
            else reading(columns[i], value(stored, i));
        }
    }

    static boolean reads(StructField[] fields) {
        for (int i = 0; i < fields.length; i++)
            if (stored(fields[i].dataType()) == null) return false;
        return true;
    }

    String text(String name) {
        StringBuilder loads = new StringBuilder("true");
        for (int i = 0; i < columns.length; i++) loads.append("\n        && load" + i + "((" + VECTOR + ") column.getChild(" + i + "))");
        return "static final class " + name + " {\n    boolean load(" + VECTOR + " column) {\n      return " + loads + ";\n    }\n"
            + text + "}\n";
    }

    // The class of Arrow that holds values of a type, what one is read as, and as which power of two its bytes; null for what is
    // not read so. A row holds binary as it holds text.
    static Object[] stored(DataType type) {
        if (type instanceof BooleanType) return values("BitVector", "Bit", 0);
        if (type instanceof ByteType) return values("TinyIntVector", "Byte", 0);
        if (type instanceof ShortType) return values("SmallIntVector", "Short", 1);
        if (type instanceof IntegerType) return values("IntVector", "Int", 2);
        if (type instanceof LongType) return values("BigIntVector", "Long", 3);
        if (type instanceof FloatType) return values("Float4Vector", "Float", 2);
        if (type instanceof DoubleType) return values("Float8Vector", "Double", 3);
        if (type instanceof DateType) return values("DateDayVector", "Int", 2);
        if (type instanceof TimestampType) return values("TimeStampMicroTZVector", "Long", 3);
        if (type instanceof TimestampNTZType) return values("TimeStampMicroVector", "Long", 3);
        if (type instanceof DecimalType && ((DecimalType) type).precision() <= Decimal.MAX_LONG_DIGITS())
            return values("DecimalVector", "Long", 4);  // the low half of 128 bits
        if (type instanceof StringType) return values("VarCharVector", "Text", 0);
        if (type instanceof BinaryType) return values("VarBinaryVector", "Text", 0);
        return null;
    }

    static Object[] values(String vector, String kind, int shift) { return new Object[] {vector, kind, Integer.valueOf(shift)}; }

    // The same of columns and of those inside of them, as direct_rows_task.java numbers them; null if one is not understood.
    static Object[] stored(StructField[] fields) {
        Object[] all = new Object[fields.length];
        for (int i = 0; i < all.length; i++) {
            DataType type = fields[i].dataType();
            StructField[] inside = type instanceof StructType ? ((StructType) type).fields() : type instanceof VariantType ? VARIANT : null;
            Object[] inner = inside == null || inside.length == 0 ? null : stored(inside), one = stored(type);
            if (inner == null && one == null) return null;
            int kind = inner != null ? (inside == VARIANT ? VARIANT_KIND : STRUCT_KIND)
                : one[1].equals("Text") ? TEXT_KIND : one[1].equals("Bit") ? 0 : 1 + ((Integer) one[2]).intValue();
            all[i] = new Object[] {inner != null ? "StructVector" : one[0], Integer.valueOf(kind), inner};
        }
        return all;
    }

    static String value(Object[] stored, int at) {
        if (stored[1].equals("Bit")) return "(Platform.getByte(null, data" + at + " + (row >> 3)) >> (row & 7) & 1) != 0";
        return "Platform.get" + stored[1] + "(null, data" + at + " + ((long) row << " + stored[2] + "))";
    }

    private void loading(int at, String vector, boolean isText) {
        String arrow = "vector instanceof org.apache.arrow.vector.";
        text.append("    private long data" + at + ", offsets" + at + ", valid" + at + ";\n");
        if (isText) text.append("    private boolean wide" + at + ";\n");
        text.append("    private boolean load" + at + "(" + VECTOR + " column) {\n"
            + "      org.apache.arrow.vector.ValueVector vector = column.getValueVector();\n"
            + (isText ? "      wide" + at + " = " + arrow + "Large" + vector + ";\n" : "")
            + "      if (!(" + arrow + vector + (isText ? " || wide" + at : "") + ")) return false;\n"
            + "      valid" + at + " = vector.getNullCount() == 0 ? 0L\n"
            + "        : vector.getValidityBuffer().memoryAddress();\n"
            + (isText ? "      offsets" + at + " = vector.getOffsetBuffer().memoryAddress();\n" : "")
            + "      data" + at + " = vector.getDataBuffer().memoryAddress();\n      return true;\n    }\n"
            + "    boolean isNull" + at + "(int row) {\n"
            + "      return valid" + at + " != 0L\n"
            + "        && (Platform.getByte(null, valid" + at + " + (row >> 3)) & (1 << (row & 7))) == 0;\n    }\n");
    }

    private void reading(Column column, String value) {
        String type = column.type instanceof DecimalType ? "long" : CodeGenerator.javaType(column.type);
        text.append("    " + type + " get" + column.at + "(int row) { return " + value + "; }\n");
    }

    private void readingText(int at) {
        text.append("    UTF8String get" + at + "(int row) {\n"
            + "      long begin, end;\n"
            + "      if (wide" + at + ") {\n"
            + "        begin = Platform.getLong(null, offsets" + at + " + ((long) row << 3));\n"
            + "        end = Platform.getLong(null, offsets" + at + " + ((long) row << 3) + 8L);\n"
            + "      } else {\n"
            + "        begin = Platform.getInt(null, offsets" + at + " + ((long) row << 2));\n"
            + "        end = Platform.getInt(null, offsets" + at + " + ((long) row << 2) + 4L);\n"
            + "      }\n"
            + "      return UTF8String.fromAddress(null, data" + at + " + begin, (int) (end - begin));\n    }\n");
    }
}

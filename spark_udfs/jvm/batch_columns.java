// Comes in: the types of a batch's columns. Goes out: source of what reads them where they are, and of what writes rows of them:
// text that direct_rows.java makes tasks' code of.
//
// A column is understood if Arrow keeps its values as Spark does, one behind the other; one that is not makes a batch go by
// Spark's own projection.
package formatter.spark;

import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.types.*;

// A column of a batch, or a field of one of its structs, by its position among all of them.
class Column {
    final int at;
    final DataType type;
    Column[] inner = {};

    Column(int at, DataType type) {
        this.at = at;
        this.type = type;
    }
}

// The source of a class that reads the memory of a batch with columns of these types.
class ColumnsSource {
    static final String VECTOR = "org.apache.spark.sql.vectorized.ArrowColumnVector";
    static final StructField[] VARIANT = {
        new StructField("value", DataTypes.BinaryType, false, Metadata.empty()),
        new StructField("metadata", DataTypes.BinaryType, false, Metadata.empty()),
    };
    final Column[] columns;
    final StringBuilder text = new StringBuilder();
    int count = 0;
    boolean understood = true;

    ColumnsSource(StructField[] fields) { columns = columns(fields); }

    Column[] columns(StructField[] fields) {
        Column[] made = new Column[fields.length];
        for (int i = 0; i < fields.length; i++) {
            made[i] = new Column(count++, fields[i].dataType());
            String[] vector = reading(made[i].type, made[i].at);
            if (made[i].type instanceof StructType) {
                made[i].inner = columns(((StructType) made[i].type).fields());
                if (made[i].inner.length == 0) understood = false;
                loading(made[i].at, "complex.StructVector", false, "      return " + loads(made[i].inner) + ";\n");
            } else if (made[i].type instanceof VariantType) {
                made[i].inner = columns(VARIANT);
                loading(made[i].at, "complex.StructVector", false, "      return " + loads(made[i].inner) + ";\n");
                readingVariant(made[i]);
            } else if (vector == null) {
                understood = false;
            } else {
                boolean isText = vector[1] == null;
                loading(made[i].at, vector[0], isText, (isText ? "      offsets" + made[i].at
                    + " = vector.getOffsetBuffer().memoryAddress();\n" : "")
                    + "      data" + made[i].at + " = vector.getDataBuffer().memoryAddress();\n      return true;\n");
                if (isText) readingText(made[i].at);
                else reading(made[i], vector[1]);
            }
        }
        return made;
    }

    boolean isFlat() { return understood && count == columns.length; }

    String text(String name) {
        return "static final class " + name + " {\n    boolean load(" + VECTOR + " column) {\n      return "
            + loads(columns) + ";\n    }\n" + text + "}\n";
    }

    static String loads(Column[] columns) {
        StringBuilder loads = new StringBuilder("true");
        for (int i = 0; i < columns.length; i++)
            loads.append("\n        && load" + columns[i].at + "((" + VECTOR + ") column.getChild(" + i + "))");
        return loads.toString();
    }

    // The class of Arrow that holds values of a type, and how one is read; null for what is not read so. A row holds
    // binary as it holds text.
    static String[] reading(DataType type, int at) {
        if (type instanceof BooleanType)
            return pair("BitVector", "(Platform.getByte(null, data" + at + " + (row >> 3)) >> (row & 7) & 1) != 0");
        if (type instanceof ByteType) return pair("TinyIntVector", number("Byte", at, 0));
        if (type instanceof ShortType) return pair("SmallIntVector", number("Short", at, 1));
        if (type instanceof IntegerType) return pair("IntVector", number("Int", at, 2));
        if (type instanceof LongType) return pair("BigIntVector", number("Long", at, 3));
        if (type instanceof FloatType) return pair("Float4Vector", number("Float", at, 2));
        if (type instanceof DoubleType) return pair("Float8Vector", number("Double", at, 3));
        if (type instanceof DateType) return pair("DateDayVector", number("Int", at, 2));
        if (type instanceof TimestampType) return pair("TimeStampMicroTZVector", number("Long", at, 3));
        if (type instanceof TimestampNTZType) return pair("TimeStampMicroVector", number("Long", at, 3));
        if (type instanceof DecimalType && ((DecimalType) type).precision() <= Decimal.MAX_LONG_DIGITS())
            return pair("DecimalVector", number("Long", at, 4));  // the low half of 128 bits
        if (type instanceof StringType) return pair("VarCharVector", null);
        if (type instanceof BinaryType) return pair("VarBinaryVector", null);
        return null;
    }

    static String[] pair(String first, String second) { return new String[] {first, second}; }

    static String number(String kind, int at, int shift) {
        return "Platform.get" + kind + "(null, data" + at + " + ((long) row << " + shift + "))";
    }

    void loading(int at, String vector, boolean isText, String rest) {
        String arrow = "vector instanceof org.apache.arrow.vector.";
        text.append("    private long data" + at + ", offsets" + at + ", valid" + at + ";\n");
        if (isText) text.append("    private boolean wide" + at + ";\n");
        text.append("    private boolean load" + at + "(" + VECTOR + " column) {\n"
            + "      org.apache.arrow.vector.ValueVector vector = column.getValueVector();\n"
            + (isText ? "      wide" + at + " = " + arrow + "Large" + vector + ";\n" : "")
            + "      if (!(" + arrow + vector + (isText ? " || wide" + at : "") + ")) return false;\n"
            + "      valid" + at + " = vector.getNullCount() == 0 ? 0L\n"
            + "        : vector.getValidityBuffer().memoryAddress();\n" + rest + "    }\n"
            + "    boolean isNull" + at + "(int row) {\n"
            + "      return valid" + at + " != 0L\n"
            + "        && (Platform.getByte(null, valid" + at + " + (row >> 3)) & (1 << (row & 7))) == 0;\n    }\n");
    }

    void reading(Column column, String value) {
        String type = column.type instanceof DecimalType ? "long" : CodeGenerator.javaType(column.type);
        text.append("    " + type + " get" + column.at + "(int row) { return " + value + "; }\n");
    }

    void readingVariant(Column column) {
        String type = "org.apache.spark.unsafe.types.VariantVal";
        text.append("    " + type + " get" + column.at + "(int row) {\n      return new " + type + "(get"
            + column.inner[0].at + "(row).getBytes(), get" + column.inner[1].at + "(row).getBytes());\n    }\n");
    }

    void readingText(int at) {
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

// The source of what a task runs that writes rows of columns of these types.
class RowSource {
    static final int MOST_FIELDS = 1000;  // the method that writes a row must stay small enough to be compiled well
    static final String WRITER = "org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter";
    final StringBuilder methods = new StringBuilder();
    final StringBuilder init = new StringBuilder();
    ColumnsSource source;
    final int width;

    RowSource(StructField[] output) {
        width = output.length;
        source = new ColumnsSource(output);
    }

    String text(String task) {
        boolean understood = source.understood && source.count <= MOST_FIELDS;
        if (!understood) source = new ColumnsSource(new StructField[0]);
        String puts = puts(source.columns, "writer");
        return task.replace("/*columns*/", source.text("Columns")).replace("/*methods*/", methods)
            .replace("/*init*/", init).replace("/*understood*/", "" + understood).replace("/*puts*/", puts)
            .replace("/*count*/", "" + width);
    }

    String puts(Column[] columns, String writer) {
        StringBuilder puts = new StringBuilder();
        for (int i = 0; i < columns.length; i++) {
            int at = columns[i].at;
            String put = "      writer.write(" + i + ", columns.get" + at + "(row));\n";
            if (columns[i].type instanceof StructType) {
                init.append("      writer" + at + " = new " + WRITER + "(" + writer + ", " + columns[i].inner.length
                    + ");\n");
                methods.append("    private " + WRITER + " writer" + at + ";\n");
                put = "      int before = writer.cursor();\n      writer" + at + ".resetRowWriter();\n"
                    + puts(columns[i].inner, "writer" + at)
                    + "      writer.setOffsetAndSizeFromPreviousCursor(" + i + ", before);\n";
            }
            methods.append("    private void put" + at + "(" + WRITER + " writer, int row) {\n"
                + "      if (columns.isNull" + at + "(row)) {\n        writer.setNullAt(" + i + ");\n"
                + "        return;\n      }\n" + put + "    }\n");
            puts.append("      put" + at + "(" + writer + ", row);\n");
        }
        return puts.toString();
    }
}

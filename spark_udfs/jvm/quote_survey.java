// Comes in: the bytes of a chunk that begins anywhere. Goes out: its courses as engine/whole/chunk_survey.hpp tells them, for quotes
// whose parity is all, and the bytes behind the last record end as they are from the likelier state. Compiled in the running
// JVM (quote_survey.py), so that payloads which are only looked at never leave it.
//
// A course, little endian: start, end (2 bytes each), last record end (4); from outside quotes, then from inside. The
// unlikely state's last record end is not looked for: NOT_SOUGHT, unless there is none.
package formatter.spark;

import java.util.Arrays;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

public class QuoteSurvey implements UDF1 {
    static final long LOW = 0x7F7F7F7F7F7F7F7FL;
    static final int BLOCK = 4096;
    static final int EVIDENCE_WINDOW = 64 << 10;
    static final int NO_END = -1, NOT_SOUGHT = -2;
    static final String DDL = "size BIGINT, courses BINARY, assumed BIGINT, tail BINARY";

    private final byte delimiter;
    private final byte recordEnd;
    private final byte quote;

    public QuoteSurvey(int delimiter, int recordEnd, int quote) {
        this.delimiter = (byte) delimiter;
        this.recordEnd = (byte) recordEnd;
        this.quote = (byte) quote;
    }

    public static Column surveyed(Column payload, Integer delimiter, Integer recordEnd, Integer quote) {
        UDF1 survey = new QuoteSurvey(delimiter.intValue(), recordEnd.intValue(), quote.intValue());
        return functions.udf(survey, StructType.fromDDL(DDL)).apply(new Column[] {payload});
    }

    public Object call(Object value) {
        byte[] data = (byte[]) value;
        if (data == null) return null;
        boolean[] quoted = new boolean[(data.length + BLOCK - 1) / BLOCK];
        int odd = oddQuotes(data, quoted);
        int likely = beginsInside(data) ? 1 : 0;
        int end = lastEnd(data, quoted, likely ^ odd);
        int other = odd == 0 && !any(quoted) && likely == 0 ? NO_END : NOT_SOUGHT;

        byte[] courses = new byte[16];
        for (int state = 0; state < 2; state++) {
            putInt(courses, 8 * state, state | (state ^ odd) << 16);
            putInt(courses, 8 * state + 4, state == likely ? end : other);
        }
        byte[] tail = Arrays.copyOfRange(data, end == NO_END ? 0 : end, data.length);
        return RowFactory.create(
            new Object[] {Long.valueOf(data.length), courses, Long.valueOf(likely), tail});
    }

    // Whether the number of quotes is odd, and which blocks have any. Eight bytes at a time: the high bit of each that is one.
    private int oddQuotes(byte[] data, boolean[] quoted) {
        long pattern = (quote & 0xFFL) * 0x0101010101010101L;
        long odd = 0;
        int single = 0;
        for (int block = 0; block < quoted.length; block++) {
            int at = block * BLOCK, end = Math.min(data.length, at + BLOCK);
            long met = 0;
            for (; at + 8 <= end; at += 8) {
                long x = Platform.getLong(data, (long) Platform.BYTE_ARRAY_OFFSET + at) ^ pattern;
                long found = ~(((x & LOW) + LOW) | x | LOW);
                odd ^= found;
                met |= found;
            }
            for (; at < end; at++) {
                if (data[at] != quote) continue;
                single ^= 1;
                met |= 1;
            }
            quoted[block] = met != 0;
        }
        return (Long.bitCount(odd) & 1) ^ single;
    }

    private static boolean any(boolean[] quoted) {
        for (int i = 0; i < quoted.length; i++)
            if (quoted[i]) return true;
        return false;
    }

    // Behind the last record end outside quotes, from a chunk's end that is in this state: 1 is inside.
    private int lastEnd(byte[] data, boolean[] quoted, int inside) {
        for (int block = quoted.length - 1; block >= 0; block--) {
            if (inside == 1 && !quoted[block]) continue;
            int first = block * BLOCK;
            for (int at = Math.min(data.length, first + BLOCK) - 1; at >= first; at--) {
                byte c = data[at];
                if (c == quote) inside ^= 1;
                else if (c == recordEnd && inside == 0) return at + 1;
            }
        }
        return NO_END;
    }

    private boolean separates(byte c) { return c == delimiter || c == recordEnd; }

    // By the first quote whose neighbours leave no doubt in well-formed input, as guess_inside in engine/whole/chunk_survey.cpp.
    private boolean beginsInside(byte[] data) {
        int end = Math.min(data.length, EVIDENCE_WINDOW);
        boolean odd = false;
        for (int i = 0; i < end; i++) {
            if (data[i] != quote) continue;
            boolean edge = i == 0 || i + 1 == data.length;
            if (!edge) {
                boolean before = separates(data[i - 1]);
                boolean behind = separates(data[i + 1]) || data[i + 1] == '\r';
                boolean near = data[i - 1] == quote || data[i + 1] == quote;
                if (!near && before != behind) return odd == before;
            }
            odd = !odd;
        }
        return false;
    }

    private static void putInt(byte[] to, int at, int value) {
        for (int i = 0; i < 4; i++) to[at + i] = (byte) (value >>> 8 * i);
    }
}

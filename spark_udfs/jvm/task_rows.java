// Comes in: what each task is to read, packed, and how many bytes all of it stands for. Goes out: a DataFrame of a row a task, in
// a plan that says so many bytes. Compiled in the running JVM (files/task_rows.py), which asks for it once a query: step by step
// it would be a hundred questions over a socket.
package formatter.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range$;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import scala.None$;
import scala.Some;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

public class TaskRows {
    static final long ID_BYTES = 8L;

    // `packed`: for each task four bytes that say how many follow, and these. `hosts`: JSON, for each task those that had better
    // run it; empty where nobody knows.
    public static Object planned(SparkSession session, byte[] packed, String hosts, Number sizeBytes) throws Exception {
        ArrayList rows = new ArrayList();
        ByteBuffer in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
            byte[] group = new byte[in.getInt()];
            in.get(group);
            rows.add(new GenericInternalRow(new Object[] {group}));
        }
        Seq output = seq(Arrays.asList(new Object[] {new AttributeReference("group", DataTypes.BinaryType, false, Metadata.empty(),
            NamedExpression$.MODULE$.newExprId(), seq(new ArrayList()))}));
        long ids = Math.max(1L, sizeBytes.longValue() / ID_BYTES);  // of a range that is as large
        Object[] given = {output, partitions(session.sparkContext(), rows, (List) new ObjectMapper().readValue(hosts, List.class)),
            new UnknownPartitioning(0), seq(new ArrayList()), Boolean.FALSE, None$.MODULE$, session,
            new Some(Range$.MODULE$.apply(0L, ids, 1L, 1).stats()), None$.MODULE$};
        // Spark's own ways to a plan with statistics plan another query first, for these. 4.3 asks whether it stands for a checkpoint.
        Constructor made = LogicalRDD.class.getConstructors()[0];
        Object[] all = Arrays.copyOf(given, made.getParameterCount());
        Arrays.fill(all, given.length, all.length, Boolean.FALSE);
        return Dataset$.MODULE$.ofRows(session, (LogicalPlan) made.newInstance(all));
    }

    // Of a row each, which Spark sends to the task that needs it and to no other.
    static RDD partitions(SparkContext context, List rows, List hosts) {
        if (hosts.isEmpty()) return new JavaSparkContext(context).parallelize(rows, rows.size()).rdd();
        ArrayList placed = new ArrayList();
        for (int i = 0; i < rows.size(); i++) placed.add(new Tuple2(rows.get(i), seq((List) hosts.get(i))));
        return context.makeRDD(seq(placed), scala.reflect.ClassTag$.MODULE$.apply(GenericInternalRow.class));
    }

    static Seq seq(List values) { return CollectionConverters.asScala(values).toSeq(); }
}

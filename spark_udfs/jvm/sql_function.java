// Comes in: a function of Python's that Spark calls while it analyzes a query. Goes out: the same function, which raises what that
// one says is wrong as Spark's own functions do: by itself Py4J would wrap the sentence in the steps of two languages. Compiled in
// the running JVM (sources/table_function.py).
package formatter.spark;

import scala.Function1;
import scala.runtime.AbstractFunction1;

public class SqlFunction {
    // `inPython`: gives a plan, or a text that says why there is none.
    public static Object told(final Function1 inPython) {
        return new AbstractFunction1() {
            public Object apply(Object expressions) {
                Object found = inPython.apply(expressions);
                if (found instanceof String) throw new IllegalArgumentException((String) found);
                return found;
            }
            public String toString() { return inPython.toString(); }
        };
    }
}

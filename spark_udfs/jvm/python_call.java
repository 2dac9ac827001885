// Comes in: a function of Python's, pickled, and a request. Goes out: the pickle of what a function of ours makes of both.
//
// It is a call of eval, of which the first function is an argument: so it is there before anything of our package is asked for, and
// a Python that lacks that says what the function says then (tasks/sent_functions.py).
package formatter.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import org.apache.spark.api.python.SimplePythonFunction;

class PythonCall {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    static SimplePythonFunction of(String module, String name, SimplePythonFunction function, HashMap request) {
        byte[] pickled = (byte[]) function.command().toArray(scala.reflect.ClassTag$.MODULE$.Byte());
        PythonCall call = new PythonCall();
        call.code("\u0080\u0003cbuiltins\neval\n");
        call.value('X', utf8("__import__('" + module + "', fromlist=['" + name + "'])." + name + "(loaded, request)"));
        call.code("}");
        call.value('X', utf8("loaded"));
        call.out.write(pickled, 0, pickled.length - 1);  // without its last byte, which says that the pickle ends
        call.code("s");
        call.value('X', utf8("request"));
        call.value('B', utf8(new ObjectMapper().valueToTree(request).toString()));
        call.code("s\u0086R.");  // two arguments, call, stop
        return new SimplePythonFunction(call.out.toByteArray(), function.envVars(), function.pythonIncludes(), function.pythonExec(),
            function.pythonVer(), function.broadcastVars(), function.accumulator());
    }

    private static byte[] utf8(String text) { return text.getBytes(StandardCharsets.UTF_8); }

    private void code(String codes) { out.writeBytes(codes.getBytes(StandardCharsets.ISO_8859_1)); }

    private void value(char kind, byte[] bytes) {
        out.write(kind);
        for (int shift = 0; shift < 32; shift += 8) out.write(bytes.length >>> shift);
        out.writeBytes(bytes);
    }
}

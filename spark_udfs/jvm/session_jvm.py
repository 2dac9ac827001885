"""Java of ours in the JVM of a live session. In: a session, sources of this package. Out: classes compiled there by Janino, the
compiler that Spark itself generates code with, and instances of them in the session's lists of rules or strategies.
Refuses to know what they do, and whether the session can have them: whatever the JVM says is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


def has_jvm(spark: Any) -> bool:
    """A Spark Connect client has none."""
    return hasattr(spark, "_jsparkSession")


def source(name: str) -> str:
    return files("spark_udfs.jvm").joinpath(name).read_text()


def compiled(spark: Any, name: str) -> Any:
    """The compiler, with the classes of the source in it."""
    jvm = spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook(source(name))
    return compiler


def instance(spark: Any, compiler: Any, class_name: str, arguments: Sequence[str] = ()) -> Any:
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    types = gateway.new_array(jvm.java.lang.Class, len(arguments))
    values = gateway.new_array(jvm.java.lang.Object, len(arguments))
    for at, argument in enumerate(arguments):
        types[at] = jvm.java.lang.Class.forName("java.lang.String")
        values[at] = argument
    return compiler.getClassLoader().loadClass(class_name).getConstructor(types).newInstance(values)


def reason_of(error: Exception) -> str:
    """In a line; the JVM's own go on for pages."""
    return f"{type(error).__name__}: {str(error).splitlines()[0][:300] if str(error) else 'no message'}"


@dataclass(frozen=True)
class Extensions:
    """One of the lists of `spark.experimental`, and our class in it."""

    list_name: str
    class_name: str

    def all(self, spark: Any) -> list[Any]:
        converters = spark._jvm.scala.jdk.javaapi.CollectionConverters
        return list(converters.asJava(getattr(spark._jsparkSession.experimental(), self.list_name)()))

    def has_ours(self, spark: Any) -> bool:
        return any(map(self._is_ours, self.all(spark)))

    def add(self, spark: Any, ours: Any) -> None:
        self._set(spark, [*self.all(spark), ours])

    def remove_ours(self, spark: Any) -> None:
        self._set(spark, [found for found in self.all(spark) if not self._is_ours(found)])

    def _is_ours(self, found: Any) -> bool:
        return bool(found.getClass().getName() == self.class_name)

    def _set(self, spark: Any, wanted: list[Any]) -> None:
        jvm = spark._jvm
        array = jvm.java.util.ArrayList()
        for one in wanted:
            array.add(one)
        sequence = jvm.scala.jdk.javaapi.CollectionConverters.asScala(array).toSeq()
        setter = f"{self.list_name}_$eq"  # how Scala spells an assignment
        getattr(spark._jsparkSession.experimental(), setter)(sequence)

"""Java of ours in the JVM of a live session. In: a session, sources of this package. Out: classes compiled there by Janino, the
compiler that Spark itself generates code with, and instances of them in the session's lists of rules or strategies. What was
compiled, and shown to do what it is for, is kept for the next session (kept_classes.py). Refuses to know what the classes do.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.errors import PythonException

from formatter.tolerance import steps_out
from spark_udfs.jvm.kept_classes import KeptClasses, kept_classes, stamp_of

LONGEST_REASON = 300
_classes: WeakKeyDictionary[Any, dict[KeptClasses, Any]] = WeakKeyDictionary()  # by the gateway to a JVM

_methods: WeakKeyDictionary[Any, dict[tuple[str, str], Any]] = WeakKeyDictionary()


def has_jvm(spark: Any) -> bool:
    """A Spark Connect client has none."""
    return hasattr(spark, "_jsparkSession")


def source(name: str) -> str:
    return files("spark_udfs.jvm").joinpath(name).read_text(encoding="utf-8")


def unit(names: Sequence[str]) -> str:
    """Sources of one package as one: what Janino compiles at once."""
    lines = [line for name in names for line in source(name).splitlines()]
    head = dict.fromkeys(line for line in lines if line.startswith(("package ", "import ")))
    return "\n".join([*sorted(head, reverse=True), *(line for line in lines if line not in head)])


def compiled(spark: Any, *names: str) -> Any:
    """The compiler, with the classes of the sources in it."""
    jvm = spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook(unit(names))
    return compiler


def java_class(spark: Any, kept: KeptClasses, names: Sequence[str], class_name: str) -> Any:
    """A class of some sources, once a JVM: Py4J would call a method of one class on objects of another of its name. It is as it was
    compiled the last time if that is kept."""
    classes = _classes.setdefault(spark.sparkContext._gateway, {})
    if kept not in classes:
        classes[kept] = _made_class(spark, kept, names, class_name)
    return classes[kept]


def static_method(spark: Any, names: Sequence[str], class_name: str, name: str) -> Any:
    """Of a class of ours that queries ask again and again, found once a JVM."""
    found = _methods.setdefault(spark.sparkContext._gateway, {})
    if (class_name, name) not in found:
        kept = kept_classes(class_name, (unit(names), spark.version, *_runtime(spark)))
        found[class_name, name] = method_of(java_class(spark, kept, names, class_name), name)
    return found[class_name, name]


def _runtime(spark: Any) -> tuple[str, ...]:
    """Which Java, and whose build of Spark: vendors change one without another number."""
    jvm: Any = spark._jvm
    version = jvm.java.lang.System.getProperty("java.vm.version")
    classes = jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.plans.logical.MapInArrow")
    return str(version), stamp_of(str(classes.getProtectionDomain().getCodeSource().getLocation().getPath()))


def _made_class(spark: Any, kept: KeptClasses, names: Sequence[str], class_name: str) -> Any:
    if kept.is_whole():
        with suppress(Exception):  # a file that is none of ours: compiled anew
            return _loaded(spark, kept.jar, class_name)
    compiler = compiled(spark, *names)
    kept.keep(compiler.getBytecodes())
    return compiler.getClassLoader().loadClass(class_name)


def _loaded(spark: Any, jar: Path, class_name: str) -> Any:
    jvm = spark._jvm
    urls = spark.sparkContext._gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(jar)).toURI().toURL()
    parent = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    return jvm.java.net.URLClassLoader(urls, parent).loadClass(class_name)


def instance(spark: Any, java_class: Any, arguments: Sequence[str]) -> Any:
    """Of a class that has one constructor."""
    return java_class.getConstructors()[0].newInstance(objects(spark, arguments))


def method_of(java_class: Any, name: str) -> Any:
    """Py4J finds methods by their class's name, and ours may have been compiled twice: so they are asked of the class."""
    return next(method for method in java_class.getMethods() if method.getName() == name)


def called(spark: Any, method: Any, ours: Any, arguments: Sequence[Any] = ()) -> Any:
    return method.invoke(ours, objects(spark, arguments))


def objects(spark: Any, values: Sequence[Any]) -> Any:
    objects = spark.sparkContext._gateway.new_array(spark._jvm.Object, len(values))
    for at, value in enumerate(values):
        objects[at] = value
    return objects


def reason_of(error: Exception) -> str:
    """In a line; the JVM's own go on for pages. Of a Python worker's the last one says what was wrong there."""
    lines = [line for line in str(getattr(error, "java_exception", error)).splitlines() if line.strip()] or [
        "no message"
    ]
    said = lines[-1] if isinstance(error, PythonException) else lines[0]
    return f"{type(error).__name__}: {said[:LONGEST_REASON]}"


@dataclass(frozen=True)
class Extension:
    """A rule or a strategy of ours in one of the lists of `spark.experimental`. `switch`: what its Java looks at in a session;
    `sources`: those of its class and what that needs; `given`: those its constructor takes. `oldest`: the Spark that it was first
    seen to fit, for words alone: an older one is tried like any other."""

    list_name: str
    class_name: str
    sources: tuple[str, ...]
    given: tuple[str, ...]
    switch: str
    warning: type[UserWarning]
    otherwise: str  # what happens without it
    oldest: tuple[int, int]

    def enable(self, spark: Any, unfit: Callable[[Any], str | None]) -> bool:
        """Attached, or a warning that says why not. `unfit` tells of the attached one why it does not do what it is for; where
        it did under the same Spark and Java before, it is not asked again."""
        if not has_jvm(spark):
            return self._refused("a Spark Connect client has no way to what plans its queries")
        try:
            given = [source(name) for name in self.given]
            kept = kept_classes(self.class_name, (unit(self.sources), *given, spark.version, *_runtime(spark)))
            if not self.attached(spark):
                ours = instance(spark, java_class(spark, kept, self.sources, self.class_name), given)
                self._set(spark, [*self._all(spark), ours])
            spark.conf.set(self.switch, "true")
            reason = None if kept.is_proven() else unfit(spark)
            if reason is None and not kept.is_proven():
                kept.prove()
        except Exception as error:  # a JVM, a Spark or a compiler that we do not know: any may fail in its own way
            reason = reason_of(error)
        if reason is None:
            return True
        try:
            self.disable(spark)
        except Exception as error:
            reason += f" (and it could not be removed: {type(error).__name__})"
        return self._refused(f"{self._told_of_version(spark.version)}it does not fit Spark {spark.version} ({reason})")

    def disable(self, spark: Any) -> None:
        if has_jvm(spark):
            spark.conf.set(self.switch, "false")
            self._set(spark, [found for found in self._all(spark) if not self._is_ours(found)])

    def attached(self, spark: Any) -> list[Any]:
        return [found for found in self._all(spark) if self._is_ours(found)]

    def _told_of_version(self, version: str) -> str:
        found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if found >= self.oldest:
            return ""
        return f"needs Spark {'.'.join(map(str, self.oldest))} or newer ({self.switch}=false keeps this quiet), "

    def _refused(self, reason: str) -> bool:
        warnings.warn(f"{self.otherwise}: {reason}", self.warning, stacklevel=steps_out())
        return False

    def _all(self, spark: Any) -> list[Any]:
        converters = spark._jvm.scala.jdk.javaapi.CollectionConverters
        return list(converters.asJava(getattr(spark._jsparkSession.experimental(), self.list_name)()))

    def _is_ours(self, found: Any) -> bool:
        return bool(found.getClass().getName() == self.class_name)

    def _set(self, spark: Any, wanted: list[Any]) -> None:
        setter = f"{self.list_name}_$eq"  # how Scala spells an assignment
        getattr(spark._jsparkSession.experimental(), setter)(scala_seq(spark, wanted))


def scala_seq(spark: Any, values: Sequence[Any]) -> Any:
    array = spark._jvm.java.util.ArrayList()
    for value in values:
        array.add(value)
    return spark._jvm.scala.jdk.javaapi.CollectionConverters.asScala(array).toSeq()

"""Random queries over our tables and over those of Spark's own readers, which must give the same rows:
`python tests/spark/query_soup.py QUERIES SEED`.

In: a number of queries and a seed. Out: the first query whose rows differ, and with which of the optimisations off; nothing if all
agree. Tables come from files of CSV and of JSON with partition folders, and from records in a column; queries select, filter,
group, join, limit, sort, sample, unite, nest, cache and count. Sums are of numbers that doubles hold exactly.
"""

from __future__ import annotations

import csv
import json
import logging
import math
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROWS = {"a": 400, "b": 40}
TYPES = {
    "i": "INT", "l": "BIGINT", "d": "DOUBLE", "s": "STRING", "t": "STRING", "y": "BOOLEAN", "at": "TIMESTAMP_NTZ", "day": "DATE",
    "m": "DECIMAL(8,2)",
}  # fmt: skip
FOLDER = "p"
DDL = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
NUMBERS, WHOLE, TEXTS, MOMENTS = ("i", "l", "d", "m", FOLDER), ("i", "l", FOLDER), ("s", "t"), ("at", "day")
WORDS = ["x", "yy", "zß水", 'says "no"', "a, b", "Z", "none at all", " blank "]
SWITCHES = {
    "everything on": {},
    "no pushdown": {"spark.formatter.pushdown.enabled": "false"},
    "no direct rows": {"spark.formatter.directRows.enabled": "false"},
    "no generated code": {"spark.sql.codegen.wholeStage": "false"},
    "no adaptive execution": {"spark.sql.adaptive.enabled": "false"},
    "nothing on": {
        "spark.formatter.pushdown.enabled": "false", "spark.formatter.directRows.enabled": "false",
        "spark.sql.codegen.wholeStage": "false", "spark.sql.adaptive.enabled": "false",
    },
}  # fmt: skip
# Spark's own rows are made without compiling anything: of tables this small that is what a query costs, whoever asks it.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
SOURCES = ("csv", "json", "records")
QUERIES_THAT_WARM = 1000


# ------------------------------------------------------------------------------------------------- tables


def row_of(chance: random.Random) -> dict[str, Any]:
    day = f"20{chance.randrange(10, 30)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
    made = {
        "i": chance.choice((chance.randrange(-9, 10), chance.randrange(-(2**31), 2**31))),
        "l": chance.choice((chance.randrange(-9, 10), chance.randrange(-(2**52), 2**52))),
        "d": chance.choice((0.25 * chance.randrange(-40, 40), 0.25 * chance.randrange(-(2**30), 2**30), math.nan, -0.0)),
        "s": chance.choice(WORDS), "t": chance.choice(("k1", "k2", "k3")), "y": chance.random() < 0.5,
        "at": f"{day}T{chance.randrange(24):02}:30:00.{chance.randrange(10**6):06}", "day": day,
        "m": f"{chance.randrange(-(10**7), 10**7) / 100:.2f}",
    }  # fmt: skip
    return {name: None if chance.random() < 0.1 else value for name, value in made.items()}


def write_tables(folder: Path, chance: random.Random) -> None:
    for table, count in ROWS.items():
        for part in range(3):
            rows = [row_of(chance) for _ in range(count // 3)]
            for kind in ("csv", "json"):
                path = folder / kind / table / f"{FOLDER}={part}"
                path.mkdir(parents=True)
                with open(path / f"rows.{kind}", "w", newline="") as file:
                    if kind == "csv":
                        csv.writer(file, lineterminator="\n").writerows(map(_text, row.values()) for row in rows)
                    else:  # NaN is no JSON
                        known = (
                            {name: None if value != value else value for name, value in row.items()} for row in rows
                        )
                        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in known)


def _text(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value)
    return str(value).lower() if isinstance(value, bool) else value


def make_views(spark: Any, folder: Path) -> None:
    """`csv_a`, `json_b`, ...: ours; with `_own` behind the name, Spark's."""
    from pyspark.sql import functions as f

    import spark_udfs as su

    given = {"csv": {"escape": '"'}, "json": {}}
    for table in ROWS:
        for kind, options in given.items():
            path = str(folder / kind / table)
            schema = f"{DDL}, {FOLDER} INT"
            su.read(spark, path, kind, schema=schema, options=options).createOrReplaceTempView(f"{kind}_{table}")
            own = getattr(spark.read.schema(schema).options(**options), kind)(path)
            _as_read(spark, own).createOrReplaceTempView(f"{kind}_{table}_own")
        lines = spark.read.text(str(folder / "json" / table))
        ours = su.parse_column(lines, "value", "json", schema=DDL).select("v.*", FOLDER)
        ours.createOrReplaceTempView(f"records_{table}")
        own = lines.select(f.from_json("value", DDL).alias("v"), FOLDER).select("v.*", FOLDER)
        _as_read(spark, own).createOrReplaceTempView(f"records_{table}_own")


def _as_read(spark: Any, own: Any) -> Any:
    """The rows that Spark's reader gives, read once: a query then costs no job where Spark can answer it as it plans."""
    from pyspark.sql import DataFrame

    return DataFrame(spark._jsparkSession.createDataFrame(own._jdf.collectAsList(), own._jdf.schema()), spark)


# ------------------------------------------------------------------------------------------------- queries


class Queries:
    """SQL in which `{a}` and `{b}` stand for the tables."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def one(self) -> str:
        kinds: Sequence[Callable[[], str]] = (
            self.rows, self.rows, self.rows, self.groups, self.groups, self.totals, self.joined, self.joined, self.united,
            self.nested, self.windowed, self.sorted,
        )  # fmt: skip
        return self.chance.choice(kinds)()

    def columns(self, most: int = 4, of: Sequence[str] = (*TYPES, FOLDER)) -> list[str]:
        return self.chance.sample(list(of), self.chance.randrange(1, min(most, len(of)) + 1))

    def literal(self, column: str) -> str:
        chance = self.chance
        if column in TEXTS:
            return "'" + chance.choice([*WORDS, "k1", "k2", "", "m"]).replace("\\", "\\\\") + "'"
        if column == "y":
            return chance.choice(("true", "false"))
        if column == "day":
            return f"DATE '20{chance.randrange(10, 30)}-06-15'"
        if column == "at":
            return f"TIMESTAMP_NTZ '20{chance.randrange(10, 30)}-06-15 12:00:00'"
        if column == "d":
            return chance.choice(("2.5D", "0D", "-100D", "double('NaN')", "1000000D", "3"))
        if column == "m":
            return chance.choice(("0", "12.5", "CAST(100 AS DECIMAL(8,2))", "-99999.99"))
        return chance.choice(("0", "3", "-7", "1", "2", "1000000", "5000000000L", "1.5D"))

    def condition(self, depth: int = 2) -> str:
        chance = self.chance
        if depth and chance.random() < 0.4:
            both = f"{self.condition(depth - 1)} {chance.choice(('AND', 'OR'))} {self.condition(depth - 1)}"
            return chance.choice(("({})", "NOT ({})", "({})")).format(both)
        [column] = self.columns(1)
        if chance.random() < 0.15:
            return f"{column} IS {chance.choice(('', 'NOT '))}NULL"
        if chance.random() < 0.2:
            values = ", ".join(self.literal(column) for _ in range(chance.randrange(1, 5)))
            return f"{column} {chance.choice(('', 'NOT '))}IN ({values})"
        if column in TEXTS and chance.random() < 0.3:
            return chance.choice((f"{column} LIKE '%a%'", f"length({column}) > 2", f"upper({column}) < 'M'"))
        if column == "y" and chance.random() < 0.5:
            return chance.choice(("y", "NOT y"))
        operator = chance.choice(("=", "<", "<=", ">", ">=", "<>", "<=>"))
        return f"{column} {operator} {self.literal(column)}"

    def where(self, often: float = 0.7) -> str:
        return f" WHERE {self.condition()}" if self.chance.random() < often else ""

    def value(self) -> str:
        chance = self.chance
        [column] = self.columns(1)
        if chance.random() < 0.6:
            return column
        if column in TEXTS:
            return chance.choice((f"concat({column}, '!')", f"length({column})", f"coalesce({column}, '?')"))
        if column in ("i", FOLDER, "d", "m"):
            return chance.choice((f"{column} + 1D", f"{column} > 0", f"CAST({column} AS STRING)", f"-{column} * 2D"))
        return chance.choice((f"{column} IS NULL", f"coalesce({column}, {self.literal(column)})"))

    def named(self, values: Sequence[str]) -> str:
        return ", ".join(f"{value} AS c{at}" for at, value in enumerate(values))

    def rows(self) -> str:
        values = [self.value() for _ in range(self.chance.randrange(1, 6))]
        distinct = "DISTINCT " if self.chance.random() < 0.15 else ""
        table = "{" + self.chance.choice("ab") + "}"
        return f"SELECT {distinct}{self.named(values)} FROM {table}{self.where()}"

    def aggregate(self) -> str:
        chance = self.chance
        return chance.choice((
            "count(*)", "count(1)", f"count({self.columns(1)[0]})", f"count(DISTINCT {self.columns(1)[0]})",
            f"sum({chance.choice(('i', 'l', 'm', FOLDER))})", f"min({self.columns(1)[0]})", f"max({self.columns(1)[0]})",
            f"min({chance.choice(WHOLE + MOMENTS)})", f"max({chance.choice(WHOLE + MOMENTS)})", "sum(i) + count(*)",
            "sum(CASE WHEN d = d AND d <> double('NaN') THEN d END)", "avg(i)", f"count(*) FILTER (WHERE {self.condition(0)})",
            "bool_or(y)", "sort_array(collect_list(i))",
        ))  # fmt: skip

    def totals(self) -> str:
        values = [self.aggregate() for _ in range(self.chance.randrange(1, 4))]
        return f"SELECT {self.named(values)} FROM {{a}}{self.where()}"

    def groups(self) -> str:
        keys = self.columns(2, ("t", "y", "s", FOLDER, "day", "i", "d"))
        values = [*keys, *(self.aggregate() for _ in range(self.chance.randrange(0, 4)))]
        having = f" HAVING count(*) > {self.chance.randrange(30)}" if self.chance.random() < 0.2 else ""
        return f"SELECT {self.named(values)} FROM {{a}}{self.where()} GROUP BY {', '.join(keys)}{having}"

    def joined(self) -> str:
        chance = self.chance
        how = chance.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"))
        [key] = self.columns(1, ("t", "i", "l", FOLDER, "s", "day"))
        hint = chance.choice(("", "", "/*+ BROADCAST(v) */ ", "/*+ MERGE(v) */ ", "/*+ SHUFFLE_HASH(v) */ "))
        left = f"(SELECT * FROM {{a}}{self.where()}) u"
        right = f"(SELECT * FROM {{{chance.choice('ab')}}} WHERE {key} IS NOT NULL AND {self.condition(1)}) v"
        values = [f"u.{name}" for name in self.columns(3)]
        values += [] if "SEMI" in how or "ANTI" in how else [f"v.{name}" for name in self.columns(2)]
        more = chance.choice(("", " AND u.i < v.i", ""))
        return f"SELECT {hint}{self.named(values)} FROM {left} {how} {right} ON u.{key} = v.{key}{more}"

    def united(self) -> str:
        columns = ", ".join(self.columns(3))
        how = self.chance.choice(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "UNION ALL"))
        return f"SELECT {columns} FROM {{a}}{self.where()} {how} SELECT {columns} FROM {{b}}{self.where()}"

    def nested(self) -> str:
        [column] = self.columns(1, ("i", "t", "s", FOLDER))
        inner = f"SELECT {column} FROM {{b}}{self.where()}"
        return self.chance.choice((
            f"SELECT {self.named(self.columns(3))} FROM {{a}} WHERE {column} IN ({inner})",
            f"SELECT {self.named(self.columns(3))} FROM {{a}} u WHERE EXISTS (SELECT 1 FROM {{b}} v WHERE v.{column} = u.{column})",
            f"SELECT count(*) AS c0, max(i) AS c1 FROM (SELECT DISTINCT {column}, i FROM {{a}}{self.where()})",
            f"SELECT l FROM {{a}} WHERE i > (SELECT max({self.chance.choice(('i', FOLDER))}) - 5D FROM {{b}})",
            f"WITH w AS ({inner}) SELECT count(*) AS c0, (SELECT min({column}) FROM w) AS c1 FROM w u JOIN w v USING ({column})",
        ))  # fmt: skip

    def windowed(self) -> str:
        [key] = self.columns(1, ("t", "y", FOLDER))
        by = f"OVER (PARTITION BY {key})"
        return f"SELECT {key}, i, count(*) {by} AS n, max(l) {by} AS c FROM {{a}}{self.where()}"

    def sorted(self) -> str:
        columns = self.columns(4)
        most = self.chance.choice((1, 5, 50, 1000))
        return f"SELECT {', '.join(columns)} FROM {{a}}{self.where()} ORDER BY {', '.join(columns)} LIMIT {most}"


# ------------------------------------------------------------------------------------------------- answers


@contextmanager
def settings(spark: Any, wanted: dict[str, str]) -> Any:
    before = {key: spark.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)


def answer(frame: Callable[[], Any]) -> Counter[str]:
    """Rows, in any order; or that there is an error."""
    from pyspark.errors import PySparkException

    try:
        return Counter(repr(row) for row in frame().collect())
    except PySparkException as error:
        return Counter([f"error {error.getCondition()}"])


def difference(spark: Any, query: str, source: str, switched: str, way: str) -> str | None:
    ours = query.format(**{table: f"{source}_{table}" for table in ROWS})
    own = query.format(**{table: f"{source}_{table}_own" for table in ROWS})
    with settings(spark, INTERPRETED):
        expected = answer(lambda: spark.sql(own))
    with settings(spark, SWITCHES[switched]):
        if way == "cached":
            cached = spark.sql(ours).cache()
            found = answer(lambda: cached)
            again = answer(lambda: cached.where("true"))
            cached.unpersist()
            found = found if found == again else again
        elif way == "counted":
            total = answer(lambda: spark.sql(f"SELECT count(*) AS n FROM ({ours})"))
            found, expected = (
                total,
                Counter([f"Row(n={sum(expected.values())})"]) if not _is_error(expected) else expected,
            )
        elif way == "sampled":
            found = answer(lambda: spark.sql(f"SELECT * FROM ({ours}) TABLESAMPLE (50 PERCENT) REPEATABLE (3)"))
            expected = found if not found - expected else expected
        else:
            found = answer(lambda: spark.sql(ours))
    if found == expected:
        return None
    shown = [list((one - other).items())[:3] for one, other in ((expected, found), (found, expected))]
    return f"{ours}\n  {switched}, {way}\n  only Spark's: {shown[0]}\n  only ours:    {shown[1]}"


def _is_error(rows: Counter[str]) -> bool:
    return any(row.startswith("error ") for row in rows)


def compare(
    spark: Any, folder: Path, count: int, seed: int, progress: Callable[[str], None] = lambda line: None
) -> list[str]:
    """All differences."""
    chance = random.Random(seed)
    write_tables(folder, chance)
    make_views(spark, folder)
    queries, differences = Queries(chance), []
    for number in range(1, count + 1):
        query, source = queries.one(), chance.choice(SOURCES)
        switched = "everything on" if chance.random() < 0.6 else chance.choice(list(SWITCHES))
        way = chance.choice(("collected", "collected", "collected", "counted", "cached", "sampled"))
        found = difference(spark, query, source, switched, way)
        if found is not None:
            differences.append(found)
            progress(found)
        if number % 100 == 0:
            progress(f"{number} queries, {len(differences)} differ")
    return differences


def main() -> None:
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root), str(root / "tools")]
    from java_home import use_java

    use_java()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    if count < QUERIES_THAT_WARM:  # each query's code is new, and runs once; what plans it runs always
        os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
    logging.getLogger("SQLQueryContextLogger").disabled = True
    from pyspark.sql import SparkSession

    import spark_udfs as su

    builder = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    )
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.ui.showConsoleProgress", "false")
    spark = su.configure(builder).getOrCreate()
    su.enable_pushdown(spark)
    with tempfile.TemporaryDirectory() as folder:
        differences = compare(spark, Path(folder), count, seed, lambda line: print(line, flush=True))
    spark.stop()
    print(f"{count} queries on Spark {spark.version}, seed {seed}: {len(differences)} differ")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()

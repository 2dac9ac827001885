"""What no column has arrives in Spark as it does in the library, and pushdown changes nothing of it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string()), ("price", pa.float64())])
LINES = [
    json.dumps({"id": n if n % 5 else "x", "name": f"n{n}", "price": n / 4, **({} if n % 7 else {"new": n})})
    for n in range(200)
]
EXPECTED = fm.read("\n".join(LINES).encode(), fm.Json(SCHEMA), rescue="_rescued").to_pylist()
FIELDS = [f"{n if n % 5 else 'x'},n{n},{n / 4}{'' if n % 7 else ',new'}" for n in range(200)]
EXPECTED_FIELDS = fm.read("\n".join(FIELDS).encode(), fm.Csv(SCHEMA), rescue="_rescued").to_pylist()


def rows(df):
    return sorted((row.asDict() for row in df.collect()), key=repr)


@pytest.fixture(params=["json", "csv"])
def kind(request):
    return request.param


@pytest.fixture
def format(kind):
    return (fm.Json if kind == "json" else fm.Csv)(SCHEMA)


@pytest.fixture
def expected(kind):
    return sorted(EXPECTED if kind == "json" else EXPECTED_FIELDS, key=repr)


@pytest.fixture(params=["read", "chunks", "records", "column"])
def parsed(request, spark, tmp_path, kind, format):
    lines = LINES if kind == "json" else FIELDS
    data = "\n".join(lines)
    if request.param == "read":
        (tmp_path / "data").write_text(data)
        return su.read(spark, str(tmp_path / "data"), format, rescue="_rescued")
    if request.param == "chunks":
        pieces = [data[at : at + 97] for at in range(0, len(data), 97)]
        chunks = [("a", n, bytearray(piece.encode())) for n, piece in enumerate(pieces, 1)]
        df = spark.createDataFrame(chunks[::-1], "origin STRING, sequence BIGINT, payload BINARY")
        return su.parse(df, format, rescue="_rescued")
    df = spark.createDataFrame([(line,) for line in lines], "value STRING").repartition(2)
    if request.param == "records":
        return su.parse(df, format, payload="value", unit="record", error=None, rescue="_rescued")
    return su.parse_column(df, "value", format, rescue="_rescued").select("v.*")


@pytest.mark.parametrize("pushdown", [False, True])
def test_every_door_gives_what_the_library_gives_whatever_is_selected(spark, parsed, expected, pushdown):
    (su.enable_pushdown if pushdown else su.disable_pushdown)(spark)
    try:
        assert rows(parsed) == expected
        some = parsed.select("name", "_rescued").where("_rescued IS NOT NULL")
        assert rows(some) == [
            {"name": row["name"], "_rescued": row["_rescued"]} for row in sorted(expected, key=lambda r: repr(
                {"name": r["name"], "_rescued": r["_rescued"]})) if row["_rescued"] is not None
        ]  # fmt: skip
        above = parsed.where("id > 100 OR id IS NULL").select("_rescued")
        wanted = [{"_rescued": r["_rescued"]} for r in expected if r["id"] is None or r["id"] > 100]
        assert rows(above) == sorted(wanted, key=repr)
        assert parsed.where("price >= 25").count() == sum(row["price"] >= 25 for row in expected)
    finally:
        su.disable_pushdown(spark)

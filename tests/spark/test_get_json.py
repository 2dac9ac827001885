"""Values by path: what get_json_object gives, in one pass; where they differ, the list is here and in docs/spark_records.md."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su
from spark_udfs.records.json_paths import pointer_of

PATHS = {"a": "$.a", "first": "$.b.c[0]", "deep": "$.b.c[2].d", "spaced": "$['a b'].x", "list": "$.b"}
SAME = [
    '{"a":15,"b":{"c":[1,2,{"d":"x"}]}}',
    '{"a":"te\\u0041xt\\n","a b":{"x":true}}',
    '{"a":null,"b":[]}',
    '{"a":1,"a":2}',
    '{"a":1',
    "[1]",
    '{"a":12345678901234567890}',
    '{"a":-0.0,"b":1.25}',
    '{"b":{"c":[[5,6],7]}}',
    '{"a":"","b":""}',
    '  {"a":1}',
    "",
    None,
    '{"a":"\\ud83d\\ude00"}',
    '{"a":1,}',
    '{"a":NaN}',
    "text",
]
DIFFERENT = {  # record: (Spark's, ours) at $.a
    '{"a":1.50}': ("1.5", "1.50"),
    '{"a":1e3}': ("1000.0", "1e3"),
    '{"a":123456789.123456789123456789}': ("1.2345678912345679E8", "123456789.123456789123456789"),
    '{"a":[ "x\\u0041" ]}': ('["xA"]', '[ "x\\u0041" ]'),
    '{"a":["\U0001f600"]}': (r'["\uD83D\uDE00"]', '["\U0001f600"]'),
    '{"a":1} x': ("1", None),
    "{'a':1}": ("1", None),
}


def by_both(spark, records, paths):
    df = spark.createDataFrame([(record,) for record in records], "value string")
    theirs = [F.get_json_object("value", path).alias(name) for name, path in paths.items()]
    rows = df.select(F.struct(*theirs).alias("theirs"), su.get_json("value", paths).alias("ours")).collect()
    return [(tuple(row.theirs), tuple(row.ours)) for row in rows]


def test_values_are_those_of_get_json_object(spark):
    for record, (theirs, ours) in zip(SAME, by_both(spark, SAME, PATHS), strict=True):
        assert ours == theirs, record


def test_where_values_differ_from_get_json_object_they_keep_their_text(spark):
    found = by_both(spark, list(DIFFERENT), {"a": "$.a"})
    assert {record: (theirs[0], ours[0]) for record, (theirs, ours) in zip(DIFFERENT, found, strict=True)} == DIFFERENT


def test_a_null_among_items_is_null_where_get_json_object_says_it_in_words(spark):
    assert by_both(spark, ['{"b":{"c":[null]}}'], {"first": "$.b.c[0]"}) == [(("null",), (None,))]


KEYS = st.sampled_from(["a", "b", "c", "d", "x", "a b"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=8)
)


def without_nulls(items):
    return [item for item in items if item is not None]


def nested(inner):
    return st.lists(inner, max_size=4).map(without_nulls) | st.dictionaries(KEYS, inner, max_size=4)


VALUES = st.recursive(LEAVES, nested, max_leaves=12)


@settings(max_examples=20)
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=5), min_size=50, max_size=100))
def test_any_record_gives_what_get_json_object_gives(spark, records):
    texts = [json.dumps(record, separators=(",", ":"), ensure_ascii=False) for record in records]
    for text, (theirs, ours) in zip(texts, by_both(spark, texts, PATHS), strict=True):
        assert ours == theirs, text


def test_a_type_gives_typed_values_and_null_where_they_do_not_fit(spark):
    df = spark.createDataFrame([('{"id": 7, "at": "2024-02-29"}',), ('{"id": "x"}',)], "value string")
    paths = {"id": ("$.id", pa.int64()), "at": ("$.at", pa.date32())}
    out = df.select(su.get_json(F.col("value"), paths).alias("v")).select("v.*")
    assert out.schema.simpleString() == "struct<id:bigint,at:date>"
    assert [str(row.id) for row in out.collect()] == ["7", "None"]


def test_it_is_a_column_like_others(spark):
    df = spark.createDataFrame([(1, '{"a": {"b": "x"}}'), (2, "{}")], "n INT, value string")
    out = df.withColumn("v", su.get_json("value", {"b": "$.a.b"})).where("v.b is not null").select("n", "v.b")
    assert [tuple(row) for row in out.collect()] == [(1, "x")]


@pytest.mark.parametrize("path", ["a", "$a", "$..a", "$.a[*]", "$.a[-1]", "$.", "$[a]", 7])
def test_a_path_of_another_form_is_refused(path):
    with pytest.raises(fm.OptionError, match="get_json"):
        pointer_of(path)


def test_pointers_escape_what_paths_need_not():
    assert pointer_of("$.a/b['c~d'][3]") == "/a~1b/c~0d/3"
    assert pointer_of("$") == ""


def test_no_path_at_all_is_refused():
    with pytest.raises(fm.OptionError, match="one or more"):
        su.get_json("value", {})

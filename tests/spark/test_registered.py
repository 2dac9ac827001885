"""Registered formats in Spark, by name: chunks in any order, files in parts, a record a value; indexers in Python and in C.

In: records of a toy format. Out: verdicts. Refuses to know: how their indexers work.
"""

from __future__ import annotations

import random

import pytest
from oracle import native_indexers, piped_records
from oracle.native_indexers import NativeIndexer, library
from oracle.piped_records import as_netstring, as_pipes, netstring_ends, netstrings, pipes
from pyspark import cloudpickle

import formatter as fm
import spark_udfs as su

for module in (piped_records, native_indexers):  # workers have no such modules
    cloudpickle.register_pickle_by_value(module)

RECORDS = [[str(i), f"city {i % 7}", f"{i}.5"] for i in range(300)]
ROWS = [(i, f"city {i % 7}") for i in range(300) if i > 20]
WAYS = {
    "pipes": ((pipes,), {}, as_pipes),
    "netstrings": ((netstrings,), {"record_end": None, "scan": netstring_ends}, as_netstring),
    "netstrings_in_c": ((lambda: NativeIndexer(library(), "netstrings"),), {"record_end": None}, as_netstring),
}
WANTED = {"schema": "id BIGINT, city STRING, price DOUBLE", "columns": ["id", "city"], "filters": [("id", ">", 20)]}


@pytest.fixture(params=WAYS)
def name(request):
    (indexer,), options, _ = WAYS[request.param]
    fm.register_format(request.param, indexer() if "in_c" in request.param else indexer, **options)
    return request.param


def test_chunks_files_and_values_are_read_by_name(spark, name, tmp_path):
    written = WAYS[name][2]
    data = b"".join(map(written, RECORDS))
    chunks = [("a", n, bytearray(data[at : at + 97])) for n, at in enumerate(range(0, len(data), 97), 1)]
    random.Random(name).shuffle(chunks)
    frame = spark.createDataFrame(chunks, "origin STRING, sequence BIGINT, payload BINARY").repartition(3)
    assert sorted(map(tuple, su.parse(frame, name, **WANTED).collect())) == ROWS
    (tmp_path / "one.txt").write_bytes(data)
    found = su.read(spark, str(tmp_path / "one.txt"), name, split_bytes=1000, **WANTED)
    assert sorted(map(tuple, found.collect())) == ROWS
    values = spark.createDataFrame([(bytearray(written(record)),) for record in RECORDS], "value BINARY")
    alone = su.parse(values, name, payload="value", unit="record", error=None, schema=WANTED["schema"])
    assert sorted(row.id for row in alone.collect()) == list(range(300))


def test_a_registered_name_needs_a_schema_and_takes_the_options_of_the_format(spark, tmp_path):
    fm.register_format("pipes", pipes)
    (tmp_path / "one.txt").write_bytes(b"1|none|2,5\n")
    with pytest.raises(fm.OptionError, match="schema= is needed with format 'pipes'"):
        su.read(spark, str(tmp_path), "pipes")
    options = {"nulls": ["none"], "decimal": ","}
    assert su.read(spark, str(tmp_path), "pipes", schema=WANTED["schema"], options=options).first() == (1, None, 2.5)

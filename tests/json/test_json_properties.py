"""Values are what Python's json says, at every cut, in every order, with every kernel."""

from __future__ import annotations

import decimal
import random
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from json_documents import Writer, read_back, records, schemas

import formatter as fm

decimal.getcontext().prec = 60
BUFFER_SIZES = (1, 2, 7, 63, 64, 65)
relaxed = settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))


@st.composite
def inputs(draw: st.DrawFn) -> tuple[pa.Schema, list[bytes]]:
    schema = draw(schemas)
    writer = Writer(draw(st.randoms(use_true_random=False)))
    lines = [writer.line(record) for record in draw(st.lists(records(schema), max_size=6))]
    return schema, lines * draw(st.sampled_from([1, 1, 30]))


def rows_of(batches: list[fm.Batch], schema: pa.Schema) -> list[dict]:
    return pa.Table.from_batches([batch.data for batch in batches], schema=schema).to_pylist()


@relaxed
@given(inputs(), st.sampled_from(["touched", "full"]))
def test_values_are_those_of_pythons_json(drawn, validate):
    schema, lines = drawn
    table = fm.read(b"\n".join(lines), fm.Json(schema, validate=validate), threads=1)
    table.validate(full=True)
    expected = [read_back(line, schema) for line in lines if line.strip()]
    assert repr(table.to_pylist()) == repr(expected)  # repr tells -0.0 from 0.0


@relaxed
@given(inputs(), st.randoms(use_true_random=False))
def test_a_projection_gives_the_same_values_as_the_whole(drawn, rng):
    schema, lines = drawn
    data = b"\n".join(lines)
    names = rng.sample(schema.names, rng.randrange(1, len(schema.names) + 1))
    whole = fm.read(data, fm.Json(schema), threads=1)
    assert fm.read(data, fm.Json(schema), columns=names, threads=1).equals(whole.select(names))


@relaxed
@given(inputs(), st.sampled_from(BUFFER_SIZES), st.randoms(use_true_random=False))
def test_cuts_and_arrival_order_change_nothing(drawn, size, rng):
    schema, lines = drawn
    data = b"\n".join(lines)
    buffers = [data[at : at + size] for at in range(0, len(data), size)]
    stream = fm.Stream(fm.Json(schema), ordered=True)
    order = list(range(len(buffers)))
    rng.shuffle(order)
    batches = [batch for i in order for batch in stream.push(buffers[i], sequence=i + 1)]
    batches += stream.finish(last_sequence=len(buffers)) if buffers else []
    assert rows_of(batches, schema) == fm.read(data, fm.Json(schema), threads=1).to_pylist()


BAD = [
    b'{"a":x}',
    b"[]",
    b'{"a":1}}',
    b'{"a":"\xff"}',
    b'{"a":1.5}',
    b'{"b":"',
    b'{"a":1',
    b'{"b":{"c":"x"}}',
    b"nonsense",
]
GOOD = [b'{"a":1,"b":{"c":2}}', b'{"b":null,"a":3}', b"{}", b'{"a": 4 }\r', b""]
MIXED = pa.schema([("a", pa.int64()), ("b", pa.struct([("c", pa.int8())]))])


def rejected(table: pa.Table) -> list[tuple]:
    rows = table.select(["byte_offset", "record", "column", "code", "raw"]).to_pylist()
    return sorted(tuple(str(value) for value in row.values()) for row in rows)


@relaxed
@given(st.lists(st.sampled_from(BAD + GOOD * 2), max_size=12), st.lists(st.integers(0, 200), max_size=8), st.booleans())
def test_bad_records_and_their_positions_do_not_depend_on_the_cuts(lines, cuts, shuffled):
    data = b"\n".join(lines)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    found: list[pa.Table] = []
    table = fm.read(data, fm.Json(MIXED), on_error="collect", rejects=found, threads=1)
    assert table.num_rows + found[0].num_rows == sum(bool(line.strip()) for line in lines)
    stream = fm.Stream(fm.Json(MIXED), on_error="collect", ordered=True)
    pushes = list(enumerate(pairwise(edges), 1))
    if shuffled:
        random.Random(1).shuffle(pushes)
    batches = [batch for n, (begin, end) in pushes for batch in stream.push(data[begin:end], sequence=n)]
    batches += stream.finish(last_sequence=len(pushes)) if pushes else []
    assert rows_of(batches, MIXED) == table.to_pylist()
    assert rejected(stream.rejects()) == rejected(found[0])


def test_every_kernel_gives_the_same_table(kernel):
    rng = random.Random(5)
    schema = pa.schema(
        [("i", pa.int32()), ("f", pa.float64()), ("s", pa.string()), ("t", pa.timestamp("us")), ("b", pa.bool_())]
    )
    lines, expected = [], []
    for n in range(3000):
        row = {"i": rng.choice([None, n, -n]), "f": rng.choice([None, rng.random(), n * 1e10])}
        row["b"] = rng.choice([True, False, None])
        row["s"] = rng.choice([None, "", "x" * rng.randrange(90), 'q"\\é', "é" * rng.randrange(40)])
        row["t"] = None
        lines.append(Writer(rng).line({k: v for k, v in row.items() if v is not None or rng.random() < 0.5}))
        expected.append({name: row[name] for name in schema.names})
    assert fm.read(b"\n".join(lines), fm.Json(schema), threads=1).to_pylist() == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_and_large_inputs_change_nothing(threads):
    schema = pa.schema([("id", pa.int64()), ("tags", pa.list_(pa.string()))])
    data = b"".join(
        b'{"id": %d, "tags": ["t%d", null], "pad": "%s"}\n' % (i, i, b"p" * (i % 300)) for i in range(60_000)
    )
    table = fm.read(data, fm.Json(schema), threads=threads)
    assert table["id"].to_pylist() == list(range(60_000))
    assert table["tags"].to_pylist()[-1] == ["t59999", None]

"""Declared formats against a slow oracle: random declarations and inputs, every cut, order, kernel and on_error.

In: declarations, and bytes made of what matters to them. Out: verdicts.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from kernel_choice import under_kernel
from oracle import delimited_oracle
from oracle.stream_runs import departure, multiset, pieces_at, pieces_of, row_tuples, shuffled, streamed, whole_read

import formatter as fm
from formatter import Level

TEXT, NUMBER = pa.string(), pa.int64()
RAW = {b"raw": b"1"}


def schema(*kinds, required=()):
    return pa.schema([pa.field(f"c{i}", kind, i not in required) for i, kind in enumerate(kinds)])


FORMATS = {
    "keys": fm.Delimited(
        schema(TEXT, NUMBER, TEXT, NUMBER), levels=[Level(" ", key="=")], marks=['""'],
        escapes={'\\"': '"', "\\\\": "\\"}, paths={"c0": "k", "c1": "n", "c2": ("k", ), "c3": ("n", )},
    ),
    "occurrences": fm.Delimited(
        schema(TEXT, NUMBER, TEXT), levels=[Level("&", key="=")], paths={"c0": "k[1]", "c1": "n", "c2": "k[0]"},
        escapes={"%26": "&", "%3D": "=", "+": " "},
    ),
    "nested": fm.Delimited(
        schema(TEXT, TEXT, NUMBER, TEXT, TEXT), levels=[Level("\r", key="|"), Level("|"), Level("~"), Level("^"), Level("&")],
        paths={"c0": "k.0", "c1": "k.1.0.1", "c2": "n.0.1.0.1", "c3": "k[1]", "c4": "n.2+"}, escapes={"\\T\\": "&"},
        record_start="\v", record_end="\f\r",
    ),
    "positions and marks": fm.Delimited(
        schema(TEXT, NUMBER, TEXT, TEXT, TEXT, required=(1,)), levels=[Level(" "), Level(",")], marks=['""', "[]", "<>"],
        kept_marks=["<>"], escapes={'""': '"', "\\]": "]"}, paths={"c0": "0", "c1": "1", "c2": "2.1", "c3": "4+", "c4": "0.0"},
    ),
    "collapsing": fm.Delimited(
        schema(TEXT, NUMBER, TEXT), levels=[Level(" ", collapse=True)], comment="#", nulls=("-",), paths={"c2": "3+"},
    ),
    "long separators": fm.Delimited(
        schema(TEXT, NUMBER, TEXT), levels=[Level("::", key="->"), Level("||")], record_end="aab",
        paths={"c0": "k", "c1": "n.1", "c2": "k.0"}, trim=True, marks=["()"],
    ),
    "byte ranges": fm.Delimited(
        schema(TEXT, NUMBER, TEXT, TEXT, required=(0,)), trim=True, nulls=("", "x"),
        paths={"c0": "0:3", "c1": "3:6", "c2": "6:", "c3": ()},
    ),
    "ranges of parts": fm.Delimited(schema(TEXT, NUMBER), levels=[Level(",")], paths={"c0": "1.1:3", "c1": "0.1:"}),
    "blocks": fm.Delimited(
        schema(TEXT, NUMBER), levels=[Level("\n", key=":")], record_end="\n\n", trim=True, nulls=("-",), comment=";",
        paths={"c0": "k", "c1": "n"},
    ),
    "escapes between marks": fm.Delimited(
        schema(TEXT, TEXT, NUMBER, TEXT), levels=[Level(" ", key="="), Level(",")], marks=['""'], bare_escapes=False,
        escapes={'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\ ": " "}, paths={"c0": "k", "c1": "k.1", "c2": "n", "c3": "k[1].0"},
    ),
    "marks at one level": fm.Delimited(
        schema(TEXT, TEXT, NUMBER, TEXT), levels=[Level(" "), Level(" ", marks=False)], marks=['""', "[]"],
        escapes={'\\"': '"', "\\\\": "\\"}, paths={"c0": "0", "c1": "0.0", "c2": "1.1", "c3": "0.2"}, record_start="<",
    ),
    "escapes that begin alike": fm.Delimited(
        schema(TEXT, NUMBER), levels=[Level("&", key="=")], paths={"c0": "k", "c1": "n"},
        escapes={**{f"%{c:02X}": bytes([c]) for c in range(128)}, "%": "-", "%2": "+", "+": " "},
    ),
    "raw": fm.Delimited(
        pa.schema([pa.field("c0", pa.binary(), metadata=RAW), ("c1", pa.string_view()), ("c2", pa.dictionary(pa.int32(), TEXT))]),
        levels=[Level(" ")], marks=['""'], escapes={"\\n": "\n"}, paths={"c1": "0", "c2": "1"}, nulls=(),
    ),
}  # fmt: skip

FURTHER = ["k", "n", "1", "22", "-7", "x", " ", "é", "k", "n", "-", "\t"]


def tokens_of(format):
    tokens = [*FURTHER, *(e.decode() for e, _ in format.escapes), *map(chr, b"".join(format.marks))]
    for level in format.levels:
        tokens += [level.separator.decode()] * 3 + [(level.key or b"").decode()] * 3
    return [*tokens, *[format.record_end.decode()] * 3, "\r", "\n", format.comment.decode()]


def random_input(chance, format):
    start, end = format.record_start.decode(), format.record_end.decode()
    tokens = tokens_of(format)
    out = ["\ufeff"] if chance.random() < 0.1 else []
    for _ in range(chance.randrange(1, 9)):
        out += [start * (chance.random() < 0.95), *chance.choices(tokens, k=chance.randrange(0, 14))]
        if chance.random() < 0.6:
            sep = format.levels[0].separator.decode() if format.levels else " "
            key = format.levels[0].key.decode() if format.levels and format.levels[0].key else ""
            out += [sep, "n" * bool(key), key, str(chance.randrange(100)), sep, "k" * bool(key), key, "text", sep]
        out.append(end)
    return "".join(out).encode()


def same(run, data, format, on_error):
    rows, rejects = delimited_oracle.read(data, format, on_error)
    assert run.rows == multiset(rows)
    if on_error == "collect":
        assert [(r[0], r[1], r[2], r[3], r[5]) for r in run.rejects] == sorted(rejects, key=lambda r: (r[1], r[0]))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("on_error", ["null", "skip", "collect"])
def test_a_whole_input_reads_as_the_oracle_says(name, on_error, kernel):
    chance = random.Random(f"{name} {on_error}")
    format = FORMATS[name]
    for _ in range(120):
        data = random_input(chance, format)
        same(whole_read(data, format, on_error), data, format, on_error)


@pytest.mark.parametrize("name", FORMATS)
def test_the_first_bad_record_is_raised_with_its_place(name):
    chance = random.Random(name)
    format, met = FORMATS[name], 0
    for _ in range(60):
        data = random_input(chance, format)
        _, rejects = delimited_oracle.read(data, format, "collect")
        error = whole_read(data, format).error
        assert (error is None) == (not rejects)
        if error:
            met += 1
            assert error[:4] == rejects[0][:4]
    assert met > 0 or name == "raw"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("on_error", ["null", "skip", "collect"])
def test_every_cut_and_order_gives_what_the_whole_gives(name, on_error):
    chance = random.Random(f"cuts {name}")
    format = FORMATS[name]
    for _ in range(4):
        data = random_input(chance, format)
        whole = whole_read(data, format, on_error)
        for cut in range(len(data) + 1):
            for order in ([0, 1], [1, 0]):
                assert departure(streamed(pieces_at(data, [cut]), format, order, on_error), whole, 2) is None, (
                    cut,
                    order,
                )
        for size in (1, 2, 7, 63, 64, 65):
            pieces = pieces_of(data, size)
            run = streamed(pieces, format, shuffled(len(pieces), size), on_error, many=size % 3 or None)
            assert departure(run, whole, len(pieces)) is None, size


@pytest.mark.parametrize("name", FORMATS)
def test_long_inputs_read_alike_by_every_kernel_projection_and_filter(name):
    chance = random.Random(f"long {name}")
    format = FORMATS[name]
    data = b"".join(random_input(chance, format).removeprefix(delimited_oracle.BOM) for _ in range(1500))
    expected, _ = delimited_oracle.read(data, format, "null")
    assert len(expected) > 2000
    names = format.schema.names
    for kernel in fm.kernels():
        with under_kernel(kernel):
            table = fm.read(data, format, on_error="null", threads=2)
            assert row_tuples([table]) == expected
            some = fm.read(data, format, columns=names[::-2], on_error="null", filters=[("c0", "is_not_null", None)])
            wanted = [tuple(row[names.index(n)] for n in names[::-2]) for row in expected if row[0] is not None]
            if not format.marks and not [
                f for f in format.schema if not f.nullable
            ]:  # else what is not looked at decides
                assert row_tuples([some]) == wanted
            if not format.marks and all(field.nullable for field in format.schema):
                assert fm.read(data, format, columns=[], on_error="null").num_rows == len(expected)
            texts = [row[0] for row in expected if isinstance(row[0], str)]
            if texts:
                one = max(set(texts), key=texts.count)
                kept = fm.read(data, format, on_error="null", filters=[("c0", "==", one)])
                assert row_tuples([kept]) == [row for row in expected if row[0] == one]

"""No byte in front of an input is read, nor behind: every format, kernel and way in, between pages that kill who does.

In: small inputs at the edges of memory. Out: the rows of the same bytes elsewhere. Refuses to know: how far is looked.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from guarded_bytes import guarded

import formatter as fm

FLAT = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64()), ("t", pa.timestamp("us"))])
NESTED = pa.schema([*FLAT, ("n", pa.struct([("x", pa.int64()), ("s", pa.list_(pa.string()))]))])
NATIVE = pa.schema([("a", pa.int64()), ("b", pa.string())])


def csv_record(chance: random.Random) -> bytes:
    text = chance.choice(["", "x", '"q ""u"', "a text of some length", "1234567", '"\n"', "é"])
    number = chance.choice(["", "1", "-12", "1234567890123456789", "0.5", "1e300", "12.25", "oops"])
    first = chance.choice(["7", "", "-9223372036854775808", "x", "12345x7"])  # bad ones are read again, one by one
    return f"{first},{text},{number},2024-02-29T12:30:00\n".encode()


def json_record(chance: random.Random) -> bytes:
    text = chance.choice(["", "x", "e\\n", "a text of some length", "é"])
    members = [
        f'"a":{chance.choice(["1", "-7", "null", "12345678901234567", "01"])}',
        f'"b":"{text}"',
        f'"c":{chance.choice(["0.5", "1e300", "-0", "null"])}',
        f'"n":{{"x":{chance.randrange(9)},"s":["u","{"v" * chance.randrange(40)}"]}}',
        f'"{"k" * chance.choice([1, 2, 15, 16, 17, 24, 40, 400])}":[1,{{}}]',
    ]
    chance.shuffle(members)
    space = chance.choice(["", "", " "])
    return ("{" + f"{space},{space}".join(members[: chance.randrange(6)]) + "}\n").encode()


def wrapped_record(chance: random.Random) -> bytes:
    items = b",".join(json_record(chance).rstrip() for _ in range(chance.randrange(4)))
    return (
        b'{"r":[' + items + chance.choice([b"]}\n", b'],"of":[1]}', b'] , "' + b"k" * chance.randrange(70) + b'":0}'])
    )


def native_record(chance: random.Random) -> bytes:
    text = b"t" * chance.randrange(30)
    return (8 + len(text)).to_bytes(4, "little") + chance.randbytes(8) + text


def logfmt_record(chance: random.Random) -> bytes:
    return f'a={chance.choice(["1", "", "x"])} b="{"v" * chance.randrange(70)}{chance.choice(["", chr(92) * 2])}"\n'.encode()


FORMATS = {
    "logfmt": (logfmt_record, lambda: fm.declared.logfmt(FLAT)),
    "csv": (csv_record, lambda: fm.Csv(FLAT)),
    "csv without quotes": (csv_record, lambda: fm.Csv(FLAT, quote=None)),
    "csv with escapes": (csv_record, lambda: fm.Csv(FLAT, escape="\\")),
    "csv in latin-1": (csv_record, lambda: fm.Csv(FLAT, encoding="latin-1")),
    "json": (json_record, lambda: fm.Json(FLAT)),
    "nested json": (json_record, lambda: fm.Json(NESTED)),
    "whole json": (json_record, lambda: fm.Json(NESTED, validate="full")),
    "json documents": (json_record, lambda: fm.Json(FLAT, records="concatenated")),
    "json records in documents": (wrapped_record, lambda: fm.Json(FLAT, records="/r/*")),
    "framed": (native_record, lambda: fm.Framed(fm.Native(NATIVE), length="u32le")),
}


@pytest.mark.parametrize("name", FORMATS)
def test_no_byte_outside_an_input_is_read(name, kernel):
    record, make = FORMATS[name]
    format, chance = make(), random.Random(name)
    stream, plain = (fm.Stream(format, on_error="skip", batch=fm.BatchPolicy(max_latency_ms=None)) for _ in range(2))
    rows = expected = 0
    for sequence in range(1, 400):
        data = b"".join(record(chance) for _ in range(chance.choice([1, 2, 3, 20])))
        cut = data[: chance.choice([len(data), len(data) - 1, len(data) // 2])] if record is not native_record else data
        whole = fm.read(cut, format, on_error="skip")
        for at_front in (True, False):
            assert fm.read(guarded(cut, at_front=at_front), format, on_error="skip", threads=1).equals(whole)
        # One buffer by itself is read where it lies.
        rows += sum(b.num_rows for b in stream.push(guarded(data, at_front=sequence % 2 == 0), sequence=sequence))
        expected += sum(b.num_rows for b in plain.push(data, sequence=sequence))
    assert rows + sum(b.num_rows for b in stream.finish()) == expected + sum(b.num_rows for b in plain.finish())


@pytest.mark.parametrize("size", [16, 17, 24, 31, 32, 33, 60_000])
def test_a_shape_with_long_keys_is_not_looked_for_in_front_of_an_input(size, kernel):
    """What was compared with a key reached as far back as that key was long, over the input's first byte."""
    key = "k" * size
    format = fm.Json(pa.schema([(f"{key}1", pa.int64()), (f"{key}2", pa.int64())]))
    stream = fm.Stream(format)
    long = b"".join(b'{"%s1":%d,"%s2":7}\n' % (key.encode(), i, key.encode()) for i in range(4))
    short = b"".join(b'{"b%d":1,"c":2}\n' % i for i in range(30))  # never the shape of the one before
    batches = stream.push(guarded(long, at_front=True), sequence=1)
    batches += stream.push(guarded(short + long, at_front=True), sequence=2) + stream.finish()
    found = [row[f"{key}1"] for batch in batches for row in batch.data.to_pylist()]
    assert found == [0, 1, 2, 3, *[None] * 30, 0, 1, 2, 3]


def test_a_read_outside_is_what_kills():
    """The guards guard: a process that looks one byte further is gone."""
    look = "import ctypes, sys; sys.path.insert(0, sys.argv[1]); from guarded_bytes import guarded\n"
    look += "view = guarded(b'x' * 10, at_front=sys.argv[2] == 'front')\n"
    look += "at = ctypes.addressof(ctypes.c_char.from_buffer(view)) + (-1 if sys.argv[2] == 'front' else 10)\n"
    look += "print(ctypes.string_at(at, 1))"
    for side in ("front", "behind"):
        command = [sys.executable, "-c", look, str(Path(__file__).parent), side]
        run = subprocess.run(command, capture_output=True, check=False)
        assert run.returncode < 0

"""What was delivered before a checkpoint and what a restored stream delivers is the whole, exactly; damage is named.

In: streams cut off at random points, a child process killed. Out: a verdict. Refuses to know: the image's layout.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import hashlib
import pickle
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from oracle.stream_inputs import DIALECTS, random_input, tricky_input
from oracle.stream_runs import multiset, pieces_of, reject_rows, row_tuples, shuffled, whole_read

import formatter as fm
from formatter.checkpoints import CheckpointError

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])
KILLED = Path(__file__).parent / "killed_stream.py"


@pytest.mark.parametrize("name", DIALECTS)
def test_a_stream_restored_at_any_point_gives_the_rest_of_the_rows_and_rejects(name):
    format = fm.Csv(SCHEMA, **DIALECTS[name])
    for seed in range(12):
        chance = random.Random(seed)
        data = tricky_input(DIALECTS[name]) if seed < 4 else random_input(chance, DIALECTS[name])
        try:
            whole = whole_read(data, format, "collect")
        except fm.SchemaError:
            continue
        pieces = pieces_of(data, chance.choice([1, 2, 5, 64]))
        stream = fm.Stream(format, on_error="collect", ordered=seed % 2 == 1, batch=fm.BatchPolicy(max_rows=4))
        batches, rejects = [], []
        for index in shuffled(len(pieces), seed):
            batches += stream.push(pieces[index], sequence=index + 1)
            if chance.random() < 0.2:
                rejects += reject_rows(stream.rejects())
            if chance.random() < 0.2:
                before = stream.stats
                stream = fm.Stream.restore(format, stream.checkpoint())
                after = stream.stats
                assert (before.pending_bytes, before.records, before.bytes) == (
                    after.pending_bytes, after.records, after.bytes)  # fmt: skip
        batches += stream.finish(last_sequence=len(pieces))
        rejects += reject_rows(stream.rejects())
        assert multiset(row_tuples(b.data for b in batches)) == whole.rows
        assert sorted(rejects, key=repr) == sorted(whole.rejects, key=repr)
        assert sorted(s for b in batches for f, t in b.spans for s in range(f, t + 1)) == list(
            range(1, len(pieces) + 1)
        )


def test_rows_open_at_a_checkpoint_come_out_of_both_streams():
    format = fm.Csv(SCHEMA)
    stream = fm.Stream(format)
    assert stream.push(b"1,x,2\n3,", sequence=1, origin="o") == []
    restored = fm.Stream.restore(format, stream.checkpoint())
    for one in (stream, restored):
        batches = one.push(b"y,4\n", sequence=2, origin="o") + one.finish_all()
        assert multiset(row_tuples(b.data for b in batches)) == [(1, "x", "2.0"), (3, "y", "4.0")]
        assert [b.spans for b in batches] == [((1, 1),), ((2, 2),)]
        assert {b.origin for b in batches} == {"o"}


def test_a_checkpoint_keeps_options_names_numbering_and_duplicates():
    format = fm.Csv(SCHEMA)
    stream = fm.Stream(format, columns=["b"], filters=[("a", ">", 1)], on_error="collect", on_duplicate="ignore",
                       layout="positional", max_sequence=3)  # fmt: skip
    for text in (b"1,x,2\n", b"2,y,2\nbad,", b"z,1\n", b"3,w,1\n5,v"):
        stream.append(text, origin=-5)
    restored = fm.Stream.restore(format, stream.checkpoint())
    assert restored.append(b",1\n", origin=-5)[0].data["b"].to_pylist() == ["y", "w"]
    assert restored.push(b",1\n", sequence=2, origin=-5) == []
    assert restored.stats.duplicates == 1
    (last,) = restored.finish(origin=-5)
    assert last.data.to_pydict() == {"a": [None], "b": ["v"], "c": [None]}
    assert restored.rejects()["code"].to_pylist() == ["invalid"]


def test_a_restored_filter_asks_what_it_asked_to_the_last_nanosecond():
    at = 1_709_209_800_000_000_001
    values = {
        "t": (
            pa.timestamp("ns"),
            pa.scalar(at, pa.timestamp("ns")),
            ["2024-02-29T12:30:00.000000001", "2024-02-29T12:30:00"],
        ),
        "f": (pa.float64(), float("nan"), ["nan", "1.5"]),
        "d": (pa.decimal128(9, 2), fractions.Fraction(5, 2), ["2.50", "0"]),
        "b": (pa.binary(), bytearray(b"x"), ["x", "y"]),
        "s": (pa.duration("ns"), np.timedelta64(5, "ns"), ["5", "6"]),
    }
    for kind, value, (kept, dropped) in values.values():
        format = fm.Csv(pa.schema([("x", kind)]))
        stream = fm.Stream(format, filters=[("x", "in", iter([value, None]))])
        restored = fm.Stream.restore(format, fm.Stream.restore(format, stream.checkpoint()).checkpoint())
        (batch,) = restored.push(f"{kept}\n{dropped}\n".encode(), sequence=1) + restored.finish()
        assert repr(batch.data["x"].to_pylist()) == repr(fm.read(kept.encode(), format)["x"].to_pylist())


def test_damaged_cut_and_foreign_checkpoints_are_refused_with_the_reason():
    format = fm.Csv(SCHEMA)
    stream = fm.Stream(format)
    stream.push(b"1,x,2\n3,", sequence=1)
    state = stream.checkpoint()
    chance = random.Random(1)
    for _ in range(200):
        at = chance.randrange(8, len(state))
        damaged = state[:at] + bytes([state[at] ^ 1 << chance.randrange(8)]) + state[at + 1 :]
        with pytest.raises(CheckpointError, match="damaged or cut short"):
            fm.Stream.restore(format, damaged)
        with pytest.raises(CheckpointError, match="damaged or cut short"):
            fm.Stream.restore(format, state[:at])
    for other in (b"", b"PAR1", state[1:]):
        with pytest.raises(CheckpointError, match="expected a stream's checkpoint of version 1"):
            fm.Stream.restore(format, other)
    with pytest.raises(CheckpointError, match="expected bytes, found str"):
        fm.Stream.restore(format, "state")
    with pytest.raises(CheckpointError, match="another schema"):
        fm.Stream.restore(fm.Csv(pa.schema([("a", pa.int32()), ("b", pa.string()), ("c", pa.float64())])), state)
    with pytest.raises(CheckpointError, match="delimiter was ',', here it is ';'"):
        fm.Stream.restore(fm.Csv(SCHEMA, delimiter=";"), state)
    assert issubclass(CheckpointError, ValueError)
    assert fm.Stream.restore(format, state).stats.buffers == 1


def test_a_native_state_that_is_damaged_or_of_another_version_is_refused_behind_a_good_checksum_too():
    format = fm.Csv(SCHEMA)
    stream = fm.Stream(format)
    stream.push(b'1,"x,2\n3,', sequence=2)
    state = stream.checkpoint()
    begin = state.index(b"fmstrm")
    end = begin + int.from_bytes(state[begin - 8 : begin], "little")

    def with_native(native):
        body = state[:begin] + native + state[end:-32]
        return body + hashlib.sha256(body).digest()

    def with_checksum(native):
        return native + checksum64(native).to_bytes(8, "little")

    native = state[begin:end]
    assert with_native(with_checksum(native[:-8])) == state
    for at in range(len(native)):
        with pytest.raises(CheckpointError):
            fm.Stream.restore(format, with_native(native[:at] + bytes([native[at] ^ 4]) + native[at + 1 :]))
    with pytest.raises(CheckpointError):
        fm.Stream.restore(format, with_native(with_checksum(b"fmstrm00" + native[8:-8])))


def checksum64(data):
    """FNV-1a."""
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 % 2**64
    return found


@pytest.mark.parametrize(("seed", "kind"), [(0, "csv"), (1, "json"), (2, "csv"), (3, "json")])
def test_a_process_killed_between_checkpoints_and_replayed_gives_every_row_once(tmp_path, seed, kind):
    """The child appends rows to a file and, with each checkpoint, notes how much of the file counts as delivered."""
    chance = random.Random(seed)
    for steps in [chance.randrange(1, 200) for _ in range(4)] + [0]:
        command = [sys.executable, KILLED, tmp_path, str(seed), kind, str(steps)]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        assert child.returncode == (-signal.SIGKILL if steps else 0), child.stderr
    delivered = []
    with (tmp_path / "rows").open("rb") as file:
        while True:
            try:
                delivered += pickle.load(file)
            except EOFError:
                break
    sys.path.insert(0, str(KILLED.parent))
    import killed_stream

    whole = whole_read(killed_stream.data_of(seed, kind), killed_stream.FORMATS[kind])
    assert multiset(delivered) == whole.rows


@pytest.mark.parametrize("behind", [b"\nmore", b"\n\0more\n", b"\n\0\0\0\0\n"])
def test_a_quote_that_may_be_closed_yet_is_open_in_the_restored_stream(behind):
    format = fm.Csv(pa.schema([("a", pa.string())]), max_quoted_bytes=30)
    data = b'1\n"x' + behind + b'"\n2\n'
    whole = whole_read(data, format, "skip")
    for cut in range(len(data)):
        stream = fm.Stream(format, on_error="skip")
        found = stream.push(data[:cut], sequence=1)
        restored = fm.Stream.restore(format, stream.checkpoint())
        found += restored.push(data[cut:], sequence=2) + restored.finish()
        assert multiset(row_tuples(batch.data for batch in found)) == whole.rows


DAYS = pa.schema(
    [
        ("n", pa.int64()),
        ("at", pa.timestamp("ns")),
        ("day", pa.date32()),
        ("m", pa.decimal128(9, 2)),
        ("b", pa.binary()),
    ]
)
CLAUSES = [
    ("at", ">", dt.datetime(2024, 1, 3)),
    ("at", ">", np.datetime64("2024-01-02T00:00:00.000000001")),
    ("at", "in", [pa.scalar(dt.datetime(2024, 1, 1)), None]),
    ("day", ">=", dt.date(2024, 1, 3)),
    ("m", "<", decimal.Decimal("3.25")),
    ("b", "in", {b"b1", b"b3"}),
    ("n", "!=", 2**70),
    ("n", "==", fractions.Fraction(3)),
]


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: f"{clause[0]} {clause[1]} {type(clause[2]).__name__}")
def test_a_restored_stream_filters_by_values_of_every_kind(clause):
    format = fm.Csv(DAYS)
    data = b"".join(b"%d,2024-01-0%d 00:00:00,2024-01-0%d,%d.25,b%d\n" % (i, i, i, i, i) for i in range(1, 7))
    stream = fm.Stream(format, filters=[clause])
    batches = stream.push(data[:70], sequence=1)
    stream = fm.Stream.restore(format, stream.checkpoint())
    batches += stream.push(data[70:], sequence=2) + stream.finish()
    found = sorted(n for batch in batches for n in batch.data["n"].to_pylist())
    assert found == fm.read(data, format, filters=[clause])["n"].to_pylist()
    assert found

"""Any dialect, any input, any schedule: the same rows, rejects and error positions as one whole read.

In: CSV dialects and JSON inputs that Hypothesis makes up, cut, shuffled, pushed from threads, pushed twice, moved to a
restored stream in the middle. Out: a verdict, and the least failing schedule. Refuses to know: speed.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle.stream_runs import (
    StreamRun,
    departure,
    error_position,
    multiset,
    pieces_at,
    pieces_of,
    reject_rows,
    row_tuples,
    whole_read,
)
from patience import PATIENCE_S

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])
NESTED = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.list_(pa.struct([("d", pa.float64())])))])
SIZES = (1, 2, 3, 7, 63, 64, 65, 4096)
EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@dataclass
class Schedule:
    """How the buffers of one input reach a stream."""

    cuts: list[int] | int  # positions, or one size for all
    order_seed: int = 0
    window: int | None = None
    per_call: int = 1
    threads: int = 1
    ordered: bool = False
    max_rows: int = 1000
    restored_after: set[int] = field(default_factory=set)  # calls
    pushed_again: set[int] = field(default_factory=set)  # calls

    def pieces(self, data: bytes) -> list[bytes]:
        if isinstance(self.cuts, int):
            return pieces_of(data, self.cuts)
        return pieces_at(data, sorted(min(cut, len(data)) for cut in self.cuts))


schedules = st.builds(
    Schedule,
    cuts=st.one_of(st.sampled_from(SIZES), st.lists(st.integers(0, 400), max_size=12)),
    order_seed=st.integers(0, 1 << 30),
    window=st.sampled_from([None, 1, 2, 5, 64]),
    per_call=st.sampled_from([1, 1, 2, 3, 1000]),
    threads=st.sampled_from([1, 1, 1, 2, 4]),
    ordered=st.booleans(),
    max_rows=st.sampled_from([1, 2, 1000]),
    restored_after=st.sets(st.integers(0, 30), max_size=3),
    pushed_again=st.sets(st.integers(0, 30), max_size=3),
)


def through(schedule: Schedule, data: bytes, format: Any, on_error: str) -> tuple[StreamRun, int]:
    from oracle.stream_runs import shuffled

    pieces = schedule.pieces(data)
    options = {"ordered": schedule.ordered, "on_duplicate": "ignore", "on_error": on_error}
    stream = fm.Stream(format, batch=fm.BatchPolicy(max_rows=schedule.max_rows), **options)
    order = shuffled(len(pieces), schedule.order_seed, schedule.window)
    calls = [order[i : i + schedule.per_call] for i in range(0, len(order), schedule.per_call)]
    batches: list[fm.Batch] = []

    def push(call: list[int]) -> None:
        if len(call) == 1 and call[0] % 2:
            batches.extend(stream.push(pieces[call[0]], sequence=call[0] + 1))
        else:
            batches.extend(stream.push_many([pieces[i] for i in call], sequences=[i + 1 for i in call]))

    try:
        if schedule.threads == 1:
            for number, call in enumerate(calls):
                push(call)
                if number in schedule.pushed_again:
                    push(call)
                if number in schedule.restored_after:
                    stream = fm.Stream.restore(format, stream.checkpoint())
        else:
            failed: list[BaseException] = []

            def work(first: int) -> None:
                try:
                    for call in calls[first :: schedule.threads]:
                        push(call)
                except BaseException as error:
                    failed.append(error)

            running = [threading.Thread(target=work, args=(i,)) for i in range(schedule.threads)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join(PATIENCE_S)
                assert not thread.is_alive()
            if failed:
                raise failed[0]
        batches += stream.finish(last_sequence=len(pieces))
    except fm.FormatError as error:
        return StreamRun([], [], error_position(error), batches), len(pieces)
    if schedule.ordered and schedule.threads == 1:
        spans = [span for batch in batches for span in batch.spans]
        assert spans == sorted(spans)
    counts = stream.stats
    assert (counts.pending_buffers, counts.pending_bytes, counts.open_batches) == (0, 0, 0)
    assert counts.records == counts.rows + counts.rejects + counts.filtered
    assert counts.bytes == len(data)
    rejects = reject_rows(stream.rejects()) if on_error == "collect" else []
    return StreamRun(multiset(row_tuples(b.data for b in batches)), rejects, None, batches), len(pieces)


def check(schedule: Schedule, data: bytes, format: Any, on_error: str) -> None:
    if schedule.threads > 1 and on_error == "raise":
        on_error = "collect"  # the other threads go on behind an error
    whole = whole_read(data, format, on_error)
    run, pieces = through(schedule, data, format, on_error)
    assert departure(run, whole, pieces) is None


@st.composite
def dialects(draw: st.DrawFn) -> dict[str, Any]:
    quote = draw(st.sampled_from(['"', '"', "'", None]))
    dialect = {
        "delimiter": draw(st.sampled_from([",", ",", "\t", "||", ";;;", "ab"])),
        "record_delimiter": draw(st.sampled_from(["\n", "\n", "\r\n", "#\n", "<e>", "aab"])),
        "quote": quote,
        "escape": draw(st.sampled_from([None, None, "\\"])),
        "header": draw(st.booleans()),
        "comment": draw(st.sampled_from([None, None, "%"])),
        "trim": draw(st.sampled_from([False, True, "left", "right"])),
        "ragged": draw(st.sampled_from(["error", "pad", "truncate"])),
    }
    try:
        fm.Csv(SCHEMA, **dialect)
    except fm.OptionError:
        assume(False)
    return dialect


@st.composite
def csv_inputs(draw: st.DrawFn, dialect: dict[str, Any]) -> bytes:
    """Records of the dialect, whole or torn, among its own special texts and other bytes."""
    field_end, end, quote = dialect["delimiter"], dialect["record_delimiter"], dialect["quote"]
    special = [field_end, end, "\r", "\n", dialect["escape"], dialect["comment"], quote]
    if quote:
        special += [quote * 2, f"{quote}x{end}{field_end}{quote}", f"{quote}{end}"]
    texts = st.sampled_from([t for t in special if t] + ["", "1", "22", "x", "é", " ", "3.5", field_end[0], end[0]])
    record = st.tuples(st.sampled_from(["1", "-7", "bad", ""]), texts, st.sampled_from(["2.5", "", "oops"]))
    part = st.one_of(record.map(lambda r: field_end.join(r) + end), st.lists(texts, max_size=6).map("".join))
    body = "".join(draw(st.lists(part, max_size=14))).encode()
    if draw(st.integers(0, 9)) == 0:
        body += draw(st.binary(max_size=8))
    head = b""
    if dialect["header"] and draw(st.integers(0, 19)):
        head = (draw(st.sampled_from(["", end, "\ufeff"])) + field_end.join("abc") + end).encode()
    return head + body


@EXAMPLES
@given(data=st.data(), schedule=schedules, on_error=st.sampled_from(["raise", "null", "skip", "collect"]))
def test_csv_of_any_dialect_through_any_schedule_is_as_read_whole(data, schedule, on_error):
    dialect = data.draw(dialects())
    text = data.draw(csv_inputs(dialect))
    format = fm.Csv(SCHEMA, **dialect)
    try:
        check(schedule, text, format, on_error)
    except fm.SchemaError:
        assert dialect["header"]  # lost or torn: the same for the whole read, which says so first


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9).map(str), st.just("1.5"), st.sampled_from(['"x"', '"\\n"'])),
    lambda inner: st.lists(inner, max_size=2).map(lambda v: "[" + ",".join(map(spelled, v)) + "]"),
    max_leaves=4,
)


def spelled(value: Any) -> str:
    return {None: "null", True: "true", False: "false"}.get(value, str(value))


@st.composite
def json_inputs(draw: st.DrawFn) -> bytes:
    lines = []
    for _ in range(draw(st.integers(0, 12))):
        known = {
            "a": draw(st.sampled_from(["1", "-20", "null", "1.5", '"x"', "9223372036854775808"])),
            "b": draw(st.sampled_from(['"text"', '"\\u00e9\\n"', '"é,{"', "null", "3"])),
            "c": draw(st.sampled_from(["[]", '[{"d":1.5}]', '[{"d":null},{}]', "null", "{}", '[{"d":1.5},7]'])),
            "other": spelled(draw(json_values)),
        }
        keys = draw(st.permutations(list(known)))[: draw(st.integers(0, 4))]
        line = "{" + ",".join(f'"{key}":{known[key]}' for key in keys) + "}"
        line = draw(st.sampled_from([line, line, line, line, "", " ", line[:-1], line + "x", "\r", "[1]"]))
        lines.append(line + draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"])))
    text = "".join(lines).encode()
    if draw(st.integers(0, 5)) == 0:
        text = text[:-1]
    if draw(st.integers(0, 9)) == 0:
        text += draw(st.binary(max_size=6))
    return text


@EXAMPLES
@given(text=json_inputs(), schedule=schedules, on_error=st.sampled_from(["raise", "null", "skip", "collect"]))
def test_json_through_any_schedule_is_as_read_whole(text, schedule, on_error):
    check(schedule, text, fm.Json(NESTED, validate="full"), on_error)


@settings(EXAMPLES, max_examples=12)
@given(text=json_inputs(), size=st.sampled_from(SIZES))
def test_json_cut_at_every_byte_and_at_every_size_is_as_read_whole(text, size):
    format = fm.Json(NESTED)
    for cut in range(len(text) + 1):
        check(Schedule([cut], order_seed=cut), text, format, "collect")
    check(Schedule(size, order_seed=1), text, format, "collect")


@settings(EXAMPLES, max_examples=12)
@given(data=st.data())
def test_csv_cut_at_every_byte_and_at_every_size_is_as_read_whole(data):
    dialect = data.draw(dialects())
    text = data.draw(csv_inputs(dialect))
    format = fm.Csv(SCHEMA, **dialect)
    try:
        for cut in range(len(text) + 1):
            check(Schedule([cut], order_seed=cut), text, format, "collect")
        for size in SIZES:
            check(Schedule(size, order_seed=size), text, format, "collect")
    except fm.SchemaError:
        assert dialect["header"]

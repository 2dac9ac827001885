"""Plans explain themselves, and run as explained."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from itertools import islice

import pyarrow as pa
import pytest
from numbered_rows import InThread

import formatter as fm
from formatter import errors, flow

SCHEMA = pa.schema([("user", pa.string()), ("price", pa.int64()), ("extra", pa.int64())])


def batches(user: str, count: int = 20, rows: int = 3) -> list[pa.RecordBatch]:
    return [
        pa.record_batch([[user] * rows, list(range(i * rows, (i + 1) * rows)), [0] * rows], schema=SCHEMA)
        for i in range(count)
    ]


def rows_of(actions) -> list[dict]:
    return [row for action in actions if isinstance(action, flow.Rows) for row in action.batch.to_pylist()]


def lines(text: str) -> list[str]:
    return [line.strip("│├└─ ") for line in text.splitlines()]


def test_every_fan_in_shows_a_barrier_with_its_upstream_count():
    pipe = flow.pipeline()
    a, b, c, d = (pipe.source(name, batches(name)) for name in "abcd")
    text = a.merge(b, c).merge(d).explain()
    assert [line for line in lines(text) if line.startswith("Barrier")] == [
        "Barrier upstream_count=2 hold_data=True",
        "Barrier upstream_count=3 hold_data=True",
    ]
    tree = text.splitlines()
    for number, line in enumerate(tree):
        if "Barrier" in line:
            assert "Merge" in tree[number - 1]  # directly below its fan-in: the last rewrite


def test_a_plan_without_fan_in_has_no_barrier():
    assert "Barrier" not in flow.pipeline().source("a", batches("a")).filter([("price", ">", 5)]).explain()


def test_filters_and_projections_move_before_bridges_and_fan_ins():
    pipe = flow.pipeline()
    stage = pipe.source("a", batches("a")).merge(pipe.source("b", batches("b"))).bridge()
    text = stage.filter([("price", ">", 5)]).select(["user"]).explain()
    depth = {
        word: [line.index(word) for line in text.splitlines() if word in line] for word in ("Bridge", "Merge", "Filter")
    }
    assert max(depth["Bridge"]) < min(depth["Merge"]) < min(depth["Filter"])
    assert len(depth["Filter"]) == 2
    assert "Source a columns=[user, price]" in lines(text)


def test_filtered_rows_never_cross_the_bridge():
    stage = flow.pipeline().source("a", batches("a")).bridge().filter([("price", "in", [7, 9])]).select(["price"])
    running = stage.run()
    assert rows_of(running) == [{"price": 7}, {"price": 9}]
    assert [stats.offered for stats in running.stats] == [2]


def test_a_filter_on_the_keys_hash_stays_above_the_bridge_that_computes_it():
    text = flow.pipeline().source("a", batches("a")).bridge(key="user").filter([("key_hash", "!=", 0)]).explain()
    words = [line.split()[0] for line in lines(text)]
    assert words == ["Output", "Bridge", "Filter", "Bridge", "Source"]


def test_a_shared_source_shows_what_each_consumer_needs_and_is_read_once():
    pipe = flow.pipeline()
    reads = []

    def items():
        for batch in batches("a"):
            reads.append(batch)
            yield batch

    shared = pipe.source("clicks", items(), schema=SCHEMA)
    plan = pipe.plan(users=shared.select(["user"]), dear=shared.filter([("price", ">=", 50)]).select(["price"]))
    text = lines(plan.explain())
    assert "Source clicks columns=[user, price]" in text
    assert "consumer users/Select columns=[user] needs [user]" in text
    assert any(line.startswith("consumer dear/") and line.endswith("needs [price]") for line in text)
    running = plan.run()
    users = InThread(lambda: rows_of(running.consumers["users"]))
    assert rows_of(running.consumers["dear"]) == [{"price": n} for n in range(50, 60)]
    users.join()
    assert users.result == [{"user": "a"}] * 60
    assert len(reads) == 20
    running.close()


def test_all_rows_of_all_sources_come_once_and_in_their_source_order():
    pipe = flow.pipeline()
    stages = [pipe.source(name, batches(name, 200)) for name in "abc"]
    got = rows_of(stages[0].merge(*stages[1:]))
    for name in "abc":
        assert [row["price"] for row in got if row["user"] == name] == list(range(600))
    assert len(got) == 1800


def test_map_runs_in_the_sources_thread_and_may_change_the_schema():
    double = pa.schema([("twice", pa.int64())])
    threads = set()

    def twice(batch):
        threads.add(threading.current_thread().name)
        return pa.record_batch([[2 * n for n in batch.column("price").to_pylist()]], schema=double)

    stage = flow.pipeline().source("a", batches("a", 2)).map(twice, schema=double)
    assert [row["twice"] for row in rows_of(stage)] == [0, 2, 4, 6, 8, 10]
    assert threads == {"formatter source a"}


def test_nulls_do_not_pass_a_comparison_and_or_of_ands_is_kept():
    table = pa.table({"n": pa.array([1, None, 3, 4, 5], pa.int64()), "s": ["a", "b", None, "d", "e"]})

    def kept(filters):
        return [row["n"] for row in rows_of(flow.pipeline().source("a", table).filter(filters))]

    assert kept([("n", ">", 2)]) == [3, 4, 5]
    assert kept([("n", "not in", [4])]) == [1, None, 3, 5]
    assert kept([[("n", "==", 1)], [("n", ">", 3), ("s", "!=", "d")]]) == [1, 5]
    assert kept([("n", "is_null")]) == [None]
    assert kept([("s", "is_not_null"), ("n", "<=", 4)]) == [1, 4]


def test_the_joint_watermark_is_the_least_and_never_passes_rows():
    pipe = flow.pipeline()
    schema = pa.schema([("t", pa.int64())])

    def source(start):
        for t in range(start, 200, 2):
            yield pa.record_batch([[t]], schema=schema)
            yield flow.Watermark(t)

    running = pipe.source("even", source(0), schema=schema).merge(pipe.source("odd", source(1), schema=schema)).run()
    reached = -1
    for action in running:
        if isinstance(action, flow.Watermark):
            assert action.ts > reached
            reached = action.ts
        else:
            assert min(action.batch.column("t").to_pylist()) > reached
    assert reached >= 198  # 199 only if its source is not the first to end


def test_a_sources_error_reaches_the_consumer_as_the_cause():
    def broken():
        yield batches("b", 1)[0]
        raise OSError("disk gone")

    pipe = flow.pipeline()
    stage = pipe.source("a", batches("a")).merge(pipe.source("b", broken(), schema=SCHEMA))
    with pytest.raises(errors.FlowError, match="disk gone") as caught:
        list(stage.run())
    assert isinstance(caught.value.__cause__, OSError)


def test_a_consumer_that_stops_early_ends_all_threads():
    before = threading.active_count()

    def endless(user):
        while True:
            yield from batches(user, 1)

    pipe = flow.pipeline()
    stage = pipe.source("a", endless("a"), schema=SCHEMA).merge(pipe.source("b", endless("b"), schema=SCHEMA))
    running = stage.run()
    for action in running:
        assert action.num_rows
        break
    gc.collect()
    running.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("hold", [True, False])
def test_checkpoints_pass_a_fan_in_once_with_a_cut_per_source(hold):
    pipe = flow.pipeline()
    one, two = pipe.source("a", batches("a", 400)), pipe.source("b", batches("b", 300))
    running = one.merge(two, hold_data=hold).run()
    asked = [running.checkpoint() for _ in range(3)]
    met, counts = [], {"a": 0, "b": 0}
    for action in running:
        if isinstance(action, flow.Checkpoint):
            met.append(action.epoch)
            if hold:
                state = running.state(action.epoch)
                assert counts == {name: state[name].position * 3 for name in counts}
        else:
            for row in action.batch.to_pylist():
                counts[row["user"]] += 1
            if len(asked) < 12:
                asked.append(running.checkpoint())
    assert met == asked[: len(met)]
    assert counts == {"a": 1200, "b": 900}


CSV = fm.Csv(pa.schema([("k", pa.string()), ("n", pa.int64())]))
BATCHED = {"batch": flow.BatchPolicy(max_rows=50, max_latency_ms=None)}


def chunks(name: str, count: int, size: int, seed: int) -> list[tuple[int, bytes]]:
    """A text in numbered chunks, a little out of order, as they arrive from a network."""
    text = "".join(f"{name},{n}\n" for n in range(count)).encode()
    numbered = [(1 + at // size, text[at : at + size]) for at in range(0, len(text), size)]
    dice = random.Random(seed)
    return [chunk for _, chunk in sorted((i + dice.random() * 6, chunk) for i, chunk in enumerate(numbered))]


def test_raw_buffers_are_parsed_with_the_filter_and_the_projection_of_the_plan():
    stage = flow.pipeline().source("a", chunks("a", 500, 31, 1)).parse(CSV, threads=4, **BATCHED)
    stage = stage.bridge().filter([("n", ">=", 490)]).select(["n"])
    assert "Parse Csv threads=4 columns=[n] n >= 490" in lines(stage.explain())
    assert sorted(row["n"] for row in rows_of(stage)) == list(range(490, 500))


def test_a_parse_error_reaches_the_consumer_with_its_position():
    stage = flow.pipeline().source("a", [(1, b"x,1\ny,bad\n")]).parse(CSV, threads=2)
    with pytest.raises(errors.FlowError) as caught:
        list(stage.run())
    assert isinstance(caught.value.__cause__, errors.FormatError)


@pytest.mark.parametrize("seed", range(6))
def test_a_checkpoint_through_a_real_pipeline_restores_exactly_once(seed):
    """Two sources, four formatter threads, one consumer; crashes at random, each time back to the last checkpoint."""
    dice = random.Random(seed)
    raw = {name: chunks(name, 3000, 97, seed) for name in ("left", "right")}
    position = dict.fromkeys(raw, 0)
    streams: dict[str, bytes | None] = dict.fromkeys(raw)
    committed: list[tuple[str, int]] = []
    crashes = 0
    ended = False
    while not ended:
        pipe = flow.pipeline()
        stages = [
            pipe.source(name, slowly(islice(raw[name], position[name], None))).parse(
                CSV, threads=2, state=streams[name], **BATCHED
            )
            for name in raw
        ]
        running = stages[0].merge(stages[1]).run()
        began = dict(position)
        running.checkpoint()
        uncommitted: list[tuple[str, int]] = []
        crash_after = dice.randrange(4, 20) if crashes < 8 else 1 << 30
        ended = True
        for action in running:
            if isinstance(action, flow.Checkpoint):
                committed += uncommitted
                uncommitted = []
                for name, state in running.state(action.epoch).items():
                    position[name], streams[name] = began[name] + state.position, state.stream
                running.checkpoint()
            else:
                uncommitted += [(row["k"], row["n"]) for row in action.batch.to_pylist()]
            crash_after -= 1
            if crash_after == 0:  # whatever was not committed is forgotten
                ended = False
                crashes += 1
                break
        running.close()
    committed += uncommitted
    assert crashes >= 1  # how many there are depends on how many batches the threads make of the rows
    assert sorted(committed) == sorted((name, n) for name in raw for n in range(3000))


def slowly(items):
    """Gives checkpoints time to be asked for while data flows."""
    for number, item in enumerate(items):
        if number % 20 == 0:
            time.sleep(0.001)
        yield item


def test_plans_refuse_what_cannot_work():
    pipe = flow.pipeline()
    stage = pipe.source("a", batches("a"))
    with pytest.raises(errors.FlowError, match="exists already"):
        pipe.source("a", [])
    with pytest.raises(errors.SchemaError, match="no column 'nope'"):
        stage.select(["nope"])
    with pytest.raises(errors.SchemaError, match="no column 'nope'"):
        stage.filter([("nope", ">", 1)])
    with pytest.raises(errors.SchemaError, match="one schema"):
        stage.merge(stage.select(["user"]))
    with pytest.raises(errors.SchemaError, match="pass schema="):
        pipe.source("raw", iter([])).explain()
    running = pipe.plan(one=stage, two=stage.select(["user"])).run()
    with pytest.raises(errors.FlowError, match="several outputs"):
        next(iter(running))
    running.close()


BY_ORIGIN = {"a": CSV, "b": fm.Json(CSV.schema)}
MIXED = [(2, b"1\ny,2\n", "a"), (1, b'{"k":"z","n":3}\n{"k":"q"', "b"), (1, b"x,", "a"), (2, b',"n":4}\n', "b")]


@pytest.mark.parametrize(
    ("formats", "more", "called"),
    [
        (BY_ORIGIN, {}, "Parse Csv, Json by origin threads=2"),
        (lambda origin: BY_ORIGIN[origin], {"schema": CSV.schema}, "Parse formats by origin threads=2"),
        (lambda origin, start: BY_ORIGIN["b" if start[:1] == b"{" else "a"], {"schema": CSV.schema}, "Parse formats"),
    ],
)
def test_a_plan_parses_origins_that_have_formats_of_their_own(formats, more, called):
    stage = flow.pipeline().source("chunks", MIXED).parse(formats, threads=2, **more)
    assert stage.schema == CSV.schema
    assert called in stage.explain()
    assert sorted((row["k"], row["n"]) for row in rows_of(stage)) == [("q", 4), ("x", 1), ("y", 2), ("z", 3)]
    some = flow.pipeline().source("chunks", MIXED).parse(formats, **more).filter([("n", ">", 2)]).select(["k"])
    assert "n > 2" in some.explain()
    assert sorted(row["k"] for row in rows_of(some)) == ["q", "z"]


def test_a_plan_of_several_formats_has_one_schema_that_is_known_before_the_first_buffer():
    source = flow.pipeline().source("chunks", MIXED)
    with pytest.raises(errors.OptionError, match="expected schema="):
        source.parse(lambda origin: CSV)
    with pytest.raises(errors.OptionError, match="found none"):
        source.parse({})
    with pytest.raises(errors.OptionError, match="has a schema of its own"):
        source.parse(CSV, schema=CSV.schema)
    other = source.parse(lambda origin: BY_ORIGIN[origin], schema=pa.schema([("k", pa.string())]))
    with pytest.raises(errors.FlowError) as raised:
        list(other.run())
    assert isinstance(raised.value.__cause__, errors.SchemaError)


def test_a_plan_reads_a_shared_stream_of_several_formats():
    shared = fm.SharedStream(BY_ORIGIN)
    running = flow.pipeline().source("shared", shared).select(["n"]).run()
    for sequence, buffer, origin in MIXED:
        shared.push(buffer, sequence=sequence, origin=origin)
    shared.finish_all()
    assert sorted(row["n"] for row in rows_of(running)) == [1, 2, 3, 4]


LINES = pa.schema([("n", pa.int64())])
ONE_BY_ONE = flow.BatchPolicy(max_rows=1, max_latency_ms=None)


def numbered_buffers(count, first=1):
    return [(sequence, b"%d\n" % sequence) for sequence in range(first, count + 1)]


@pytest.mark.parametrize(
    "format", [fm.Csv(LINES, quote=None), {0: fm.Csv(LINES, quote=None)}], ids=["one", "by origin"]
)
def test_an_ordered_parse_by_several_threads_gives_rows_in_order(format):
    seen, interval = [], sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        source = flow.pipeline().source("lines", numbered_buffers(3000))
        for rows in source.parse(format, ordered=True, threads=4, batch=ONE_BY_ONE).run():
            seen += rows.batch.column("n").to_pylist()
    finally:
        sys.setswitchinterval(interval)
    assert seen == list(range(1, 3001))


def test_what_was_saved_with_an_ordered_stream_comes_before_what_follows():
    stream = fm.Stream(fm.Csv(LINES, quote=None), ordered=True, batch=flow.BatchPolicy(max_latency_ms=None))
    assert stream.push(b"1\n2\n", sequence=1) == []
    source = flow.pipeline().source("lines", numbered_buffers(40, first=2))
    stage = source.parse(stream.format, state=stream.checkpoint(), threads=3)
    assert [n for rows in stage.run() for n in rows.batch.column("n").to_pylist()] == [1, 2, *range(2, 41)]


def test_what_the_parsers_of_a_plan_reject_can_be_had():
    pipe = flow.pipeline()
    good = pipe.source("good", [(1, b"1\n")]).parse(fm.Csv(LINES), on_error="collect")
    bad = pipe.source("bad", [(1, b"2\nx\n"), (2, b"3\n")]).parse(fm.Csv(LINES), on_error="collect", threads=2)
    running = good.merge(bad).run()
    assert sorted(n for rows in running for n in rows.batch.column("n").to_pylist()) == [1, 2, 3]
    assert running.rejects().select(["sequence", "column", "raw"]).to_pylist() == [
        {"sequence": 1, "column": "n", "raw": b"x"}
    ]
    assert running.rejects().num_rows == 0
    batch = pa.record_batch({"n": pa.array([1])})
    assert flow.pipeline().source("batches", [batch]).run().rejects().num_rows == 0


@pytest.mark.parametrize("options", [{"columns": ["n"]}, {"filters": [("n", ">", 1)]}, {"layout": "positional"}])
def test_what_belongs_behind_a_parse_is_refused_with_where_to_write_it(options):
    with pytest.raises(fm.OptionError, match=r"write \.(select|filter)\(\.\.\.\) behind it"):
        flow.pipeline().source("lines", []).parse(fm.Csv(LINES), **options)


@pytest.mark.parametrize("options", [{"max_record_bytes": 0}, {"on_error": "ignore"}, {"nonsense": 1}])
@pytest.mark.parametrize(
    "format", [fm.Csv(LINES), {"a": fm.Csv(LINES)}, lambda origin: fm.Csv(LINES)], ids=["one", "dict", "function"]
)
def test_options_of_a_parse_are_checked_when_the_plan_is_made(format, options):
    schema = LINES if callable(format) else None
    with pytest.raises((fm.OptionError, TypeError)):
        flow.pipeline().source("lines", []).parse(format, schema=schema, **options)


@pytest.mark.parametrize("item", [b"1,a\n", (1,), (1, b"1\n", 0, 3), 5])
def test_an_item_that_is_no_buffer_with_its_sequence_is_told(item):
    stage = flow.pipeline().source("lines", [item]).parse(fm.Csv(LINES))
    with pytest.raises(
        fm.FlowError, match=r"expected items \(sequence, buffer\) or \(sequence, buffer, origin\), found"
    ):
        list(stage.run())

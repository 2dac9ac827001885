"""A shared stream as the source of plans: subscribed to for the columns their stages need, beside other consumers.

In: plans over a SharedStream or a Subscription. Out: rows, explained plans. Refuses to know: how stages run.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from shared_inputs import SCHEMA, Threads, lines, record, rows

import formatter as fm

FORMAT = fm.Csv(SCHEMA)


def taken(running) -> list[dict[str, object]]:
    return [row for action in running if isinstance(action, fm.Rows) for row in action.batch.to_pylist()]


def test_a_plan_subscribes_for_what_its_stages_need_and_gives_it_back():
    shared = fm.SharedStream(FORMAT)
    other = shared.subscribe(["c"], name="other")
    stage = fm.pipeline().source("events", shared).filter([("d", ">", 3)]).select(["a"])
    assert [line.strip() for line in stage.explain().splitlines()[-2:]] == [
        "└─ Source events of a SharedStream columns=[a, d]",
        "consumer other needs [c]",
    ]
    assert shared.subscriptions == ("other",)
    running = stage.run()
    assert shared.views == (("other", ("c",)), ("events", ("a", "d")))
    assert shared.decoding_columns == ("a", "c", "d")
    shared.push(lines(range(10)), sequence=1)
    shared.finish()
    assert taken(running) == [{"a": record(i)["a"]} for i in range(4, 10)]
    assert [row["c"] for row in rows(other)] == [i / 2 for i in range(10)]
    assert not any(shared.stats.values_decoded[name] for name in ("id", "b", "e"))
    assert shared.subscriptions == ("other",)


def test_two_branches_of_a_plan_show_what_each_needs_of_the_shared_source():
    shared = fm.SharedStream(FORMAT)
    pipe = fm.pipeline()
    source = pipe.source("events", shared)
    plan = pipe.plan(one=source.select(["a"]), two=source.filter([("d", "==", 1)]).select(["b"]))
    text = plan.explain()
    assert "Source events of a SharedStream columns=[a, b, d]" in text
    assert "consumer one/Select columns=[a] needs [a]" in text
    assert "needs [b, d]" in text
    running = plan.run()
    shared.push(lines(range(4)), sequence=1)
    shared.finish()
    found: dict[str, list[dict[str, object]]] = {}
    Threads(
        *(lambda n=n, c=c: found.__setitem__(n, taken(c)) for n, c in running.consumers.items())  # type: ignore[misc]
    ).join()
    running.close()
    assert found == {"one": [{"a": i * 3} for i in range(4)], "two": [{"b": "b1"}]}


def test_a_subscription_is_a_source_of_the_columns_it_asked_for():
    shared = fm.SharedStream(FORMAT)
    wide = shared.subscribe()
    narrow = shared.subscribe(["id", "b"], filters=[("a", ">=", 6)])
    stage = fm.pipeline().source("mine", narrow)
    assert stage.schema.names == ["id", "b"]
    with pytest.raises(fm.SchemaError):
        stage.select(["c"])
    running = stage.run()
    shared.push(lines(range(4)), sequence=1)
    shared.finish()
    assert taken(running) == [{"id": 2, "b": "b2"}, {"id": 3, "b": "b3"}]
    assert len(rows(wide)) == 4


def test_a_plan_that_is_closed_early_leaves_the_shared_stream():
    shared = fm.SharedStream(FORMAT)
    running = fm.pipeline().source("events", shared).select(["a"]).run()
    assert shared.subscriptions == ("events",)
    running.close()
    assert (shared.subscriptions, shared.decoding_columns) == ((), ())


def test_batches_of_a_stream_are_items_too_and_what_they_lack_is_an_error():
    stream = fm.Stream(FORMAT, columns=["a", "b"])
    batches = stream.push(lines(range(3)), sequence=1) + stream.finish()
    schema = pa.schema([SCHEMA.field("a")])
    assert taken(fm.pipeline().source("x", batches, schema=schema).run()) == [{"a": i * 3} for i in range(3)]
    with pytest.raises(fm.FlowError):
        taken(fm.pipeline().source("x", batches, schema=pa.schema([SCHEMA.field("c")])).run())

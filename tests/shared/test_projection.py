"""What is decoded is the union of what is needed now: seen in values, in the kernel's counters, in versions, in words.

In: subscriptions that come and go in one thread. Out: what each of them sees. Refuses to know: queues, threads.
"""

from __future__ import annotations

import pickle
import struct

import pyarrow as pa
import pytest
from shared_inputs import NAMES, SCHEMA, covered, expected, lines, record, rows, waiting

import formatter as fm

FORMAT = fm.Csv(SCHEMA)
NESTED = fm.Json(
    pa.schema(
        [
            ("id", pa.int64()),
            ("user", pa.struct([("name", pa.string()), ("age", pa.int64()), ("home", pa.struct([("zip", pa.string()),
                                                                                              ("street", pa.string())]))])),
            ("items", pa.list_(pa.struct([("price", pa.float64()), ("sku", pa.string())]))),
            ("tag", pa.string()),
        ]
    )
)  # fmt: skip
DOCUMENTS = (
    b'{"id":1,"user":{"name":"Ada","age":36,"home":{"zip":"1","street":"x"}},"items":[{"price":1.5,"sku":"p"}],"tag":"t"}\n'
    b'{"id":2,"user":null,"items":null,"tag":null}\n'
    b'{"id":3,"user":{"age":7},"items":[{"sku":"q"},{"price":2}]}\n'
)


def test_disjoint_consumers_are_each_right_and_a_column_nobody_needs_is_never_decoded():
    shared = fm.SharedStream(FORMAT)
    first, second = shared.subscribe(["a"]), shared.subscribe(["b"])
    for k in range(20):
        shared.push(lines(range(k * 10, k * 10 + 10)), sequence=k + 1)
    shared.finish()
    ids = range(200)
    assert [row["a"] for row in rows(first)] == [record(i)["a"] for i in ids]
    assert [row["b"] for row in rows(second)] == [record(i)["b"] for i in ids]
    decoded = shared.stats.values_decoded
    assert decoded == {"id": 0, "a": 200, "b": 200, "c": 0, "d": 0, "e": 0}


def test_every_batch_has_the_full_schema_and_null_outside_the_union():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["c", "a"])
    shared.push(lines(range(5)), sequence=1)
    shared.finish()
    (batch,) = subscription
    assert isinstance(batch, fm.Batch)
    assert batch.data.schema.names == list(NAMES) == batch.schema.names
    assert rows([batch]) == expected(range(5), {"a", "c"})
    assert batch.data.schema == batch.schema
    assert batch.num_rows == len(batch) == 5


def test_an_undecoded_column_is_an_error_that_names_the_projection_and_null_in_data():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["a"])
    shared.push(lines(range(3)), sequence=1)
    shared.finish()
    (batch,) = subscription
    assert batch.column("a").to_pylist() == batch.column(1).to_pylist() == [0, 3, 6]
    for name in ("b", 2):
        with pytest.raises(fm.SchemaError, match=r"'b' was not decoded; projection 1 has \('a',\)"):
            batch.column(name)
    with pytest.raises(fm.SchemaError, match="'nowhere' was not decoded"):
        batch.column("nowhere")
    assert batch.data["b"].null_count == 3
    assert batch.projection == ("a",)
    assert pa.record_batch(batch).equals(batch.data)
    again = pickle.loads(pickle.dumps(batch))
    assert again.data.equals(batch.data)
    with pytest.raises(fm.SchemaError, match="'b' was not decoded"):
        again.column("b")


def test_what_others_need_is_in_the_batch_as_well_for_it_is_one_batch():
    shared = fm.SharedStream(FORMAT)
    first, second = shared.subscribe(["a"]), shared.subscribe(["b"])
    shared.push(lines(range(3)), sequence=1)
    shared.finish()
    (one,), (other,) = first, second
    assert one is other
    assert one.column("b").to_pylist() == ["b0", "b1", "b2"]


def test_the_union_grows_and_shrinks_by_one_version_a_change():
    shared = fm.SharedStream(FORMAT)
    assert (shared.projection_version, shared.decoding_columns) == (0, ())
    few = shared.subscribe(["b", "a"])
    assert (shared.projection_version, shared.decoding_columns) == (1, ("a", "b"))
    same = shared.subscribe(["a"])
    assert (shared.projection_version, shared.decoding_columns) == (1, ("a", "b"))
    everything = shared.subscribe(fm.ALL)
    assert (shared.projection_version, shared.decoding_columns) == (2, NAMES)
    everything.close()
    assert (shared.projection_version, shared.decoding_columns) == (3, ("a", "b"))
    few.close()
    assert (shared.projection_version, shared.decoding_columns) == (4, ("a",))
    same.close()
    assert (shared.projection_version, shared.decoding_columns) == (5, ())


def test_a_consumer_of_everything_comes_and_goes_between_two_buffers():
    shared = fm.SharedStream(FORMAT)
    steady = shared.subscribe(["a"])
    shared.push(lines(range(10)), sequence=1)
    everything = shared.subscribe()
    shared.push(lines(range(10, 20)), sequence=2)
    everything.close()
    shared.push(lines(range(20, 30)), sequence=3)
    shared.finish()
    assert rows(everything) == [record(i) for i in range(10, 20)]
    batches = list(steady)
    assert [batch.projection_version for batch in batches] == [1, 2, 3]
    assert [row["a"] for row in rows(batches)] == [i * 3 for i in range(30)]
    assert covered(batches) == [1, 2, 3]
    assert shared.stats.values_decoded["c"] == 10


def test_needing_nothing_is_a_count_and_not_everything():
    shared = fm.SharedStream(FORMAT)
    counting = shared.subscribe([])
    assert shared.decoding_columns == ()
    shared.push(lines(range(7)), sequence=1)
    shared.finish()
    (batch,) = counting
    assert (batch.num_rows, batch.data.num_rows, batch.data.num_columns) == (7, 7, len(NAMES))
    assert not any(shared.stats.values_decoded.values())
    assert shared.stats.discarded_rows == 0


@pytest.mark.parametrize("columns", [None, "a"])
def test_columns_that_could_mean_two_things_are_refused(columns):
    with pytest.raises(fm.OptionError, match=r"columns: .*write"):
        fm.SharedStream(FORMAT).subscribe(columns)


def test_all_says_what_it_is_and_stays_itself():
    assert repr(fm.ALL) == "fm.ALL"
    assert pickle.loads(pickle.dumps(fm.ALL)) is fm.ALL


def test_columns_of_types_that_are_converted_arrive_in_their_own_type():
    schema = pa.schema(
        [("k", pa.dictionary(pa.int32(), pa.string())), ("t", pa.duration("s")), ("n", pa.int64(), False)]
    )
    shared = fm.SharedStream(fm.Csv(schema))
    subscription = shared.subscribe(["k", "t"])
    shared.push(b"x,5,1\ny,6,2\n", sequence=1)
    shared.finish()
    (batch,) = subscription
    assert [field.type for field in batch.data.schema] == [field.type for field in schema]
    assert batch.data.schema.field("n").nullable  # whatever the schema says: it is not decoded
    assert batch.data["k"].to_pylist() == ["x", "y"]
    batch.data.validate(full=True)


# ------------------------------------------------------------------------------------------------------------- nested


def nested_rows(*columns: str) -> list[fm.Batch]:
    shared = fm.SharedStream(NESTED)
    subscriptions = [shared.subscribe([column]) for column in columns]
    shared.push(DOCUMENTS, sequence=1)
    shared.finish()
    (batch,) = subscriptions[-1]
    batch.data.validate(full=True)
    assert batch.data.schema.equals(NESTED.schema)
    return [batch]


def test_nested_needs_join_into_a_union_of_paths():
    shared = fm.SharedStream(NESTED)
    shared_names = []
    kept = []
    for path in ("user.name", "items[].price", "user.home.zip", "id", "user.home", "user.age"):
        kept.append(shared.subscribe([path]))
        shared_names.append(shared.decoding_columns)
    assert shared_names == [
        ("user.name",),
        ("user.name", "items[].price"),
        ("user.name", "user.home.zip", "items[].price"),
        ("id", "user.name", "user.home.zip", "items[].price"),
        ("id", "user.name", "user.home", "items[].price"),
        ("id", "user", "items[].price"),  # all of its members
    ]
    assert shared.projection_version == 6
    kept[0].close()
    assert shared.decoding_columns == ("id", "user.age", "user.home", "items[].price")
    assert shared.projection_version == 7


def test_of_a_struct_partly_needed_the_rest_is_null():
    (batch,) = nested_rows("user.name", "items[].price")
    assert rows([batch]) == [
        {"id": None, "user": {"name": "Ada", "age": None, "home": None}, "items": [{"price": 1.5, "sku": None}], "tag": None},
        {"id": None, "user": None, "items": None, "tag": None},
        {"id": None, "user": {"name": None, "age": None, "home": None},
         "items": [{"price": None, "sku": None}, {"price": 2.0, "sku": None}], "tag": None},
    ]  # fmt: skip


def test_a_path_is_a_column_of_its_own():
    (batch,) = nested_rows("user.home.zip", "items[].price", "user.name")
    assert batch.column("user.home.zip").to_pylist() == ["1", None, None]
    assert batch.column("user.name").to_pylist() == ["Ada", None, None]
    assert batch.column("items[].price").to_pylist() == [[1.5], None, [None, 2.0]]
    assert batch.column("user").to_pylist()[0] == {"name": "Ada", "age": None, "home": {"zip": "1", "street": None}}
    for path in ("user.age", "user.home", "user.home.street", "items[].sku", "tag"):
        with pytest.raises(fm.SchemaError, match="was not decoded; projection 3 has"):
            batch.column(path)


def test_paths_lead_into_framed_documents_too():
    shared = fm.SharedStream(fm.Framed(NESTED))
    subscription = shared.subscribe(["user.name"])
    data = b"".join(struct.pack("<I", len(line)) + line for line in DOCUMENTS.splitlines())
    for k, begin in enumerate(range(0, len(data), 10)):
        shared.push(data[begin : begin + 10], sequence=k + 1)
    shared.finish()
    assert shared.decoding_columns == ("user.name",)
    names = [name for batch in subscription for name in batch.column("user.name").to_pylist()]
    assert names == ["Ada", None, None]


def test_packed_rows_are_shared_as_text_is():
    schema = pa.schema([("a", pa.int64()), ("b", pa.float64()), ("c", pa.int32())])
    shared = fm.SharedStream(fm.Native(schema))
    some, other = shared.subscribe(["b"], filters=[("a", ">", 1)]), shared.subscribe([])
    data = b"".join(struct.pack("<qdi", i, i / 2, i) for i in range(5))
    for k, begin in enumerate(range(0, len(data), 7)):
        shared.push(data[begin : begin + 7], sequence=k + 1)
    shared.finish()
    assert [row["b"] for row in rows(some)] == [1.0, 1.5, 2.0]
    assert sum(batch.num_rows for batch in other) == 5
    assert shared.decoding_columns == ("a", "b")


def test_two_members_of_one_struct_needed_by_two_consumers_are_both_there():
    (batch,) = nested_rows("user.name", "user.age")
    assert [row["user"] for row in rows([batch])] == [
        {"name": "Ada", "age": 36, "home": None},
        None,
        {"name": None, "age": 7, "home": None},
    ]


def test_a_path_that_leads_nowhere_is_refused_and_changes_nothing():
    shared = fm.SharedStream(NESTED)
    for path in ("user.nobody", "items.price", "id.x", "nothing"):
        with pytest.raises(fm.SchemaError):
            shared.subscribe([path])
    assert (shared.projection_version, shared.subscriptions) == (0, ())


# ------------------------------------------------------------------------------------------------------------ in words


def test_explain_shows_each_consumers_view_the_union_and_the_applied_decode():
    shared = fm.SharedStream(FORMAT, batch=fm.BatchPolicy(max_rows=2))
    with shared.subscribe(["a"], name="dash", queue=1, overflow="drop", filters=[("d", ">", 1)]) as dash:
        audit = shared.subscribe(["b"], name="audit", queue=8)
        shared.push(lines(range(8)), sequence=1)
        assert shared.explain().splitlines() == [
            "SharedStream Csv version=2 consumers=2",
            "├─ Decode columns=[a, b, d] version=2",
            "├─ Union columns=[a, b, d] of 6",
            "├─ Consumer dash needs=[a] d > 1 version=1 queue=1 overflow=drop lag=1 drops=2",
            "└─ Consumer audit needs=[b] version=2 queue=8 overflow=wait lag=4 drops=0",
        ]
        assert dash.dropped == 2
    audit.close()
    assert shared.explain().splitlines()[1] == "├─ Decode nothing version=4 (nobody is subscribed, idle='discard')"


def test_a_filter_of_the_stream_itself_is_decoded_and_told_apart_from_the_union():
    shared = fm.SharedStream(FORMAT, filters=[("id", "<", 3)])
    subscription = shared.subscribe(["a"])
    assert shared.decoding_columns == ("id", "a")
    shared.push(lines(range(9)), sequence=1)
    shared.finish()
    assert [row["a"] for row in rows(subscription)] == [0, 3, 6]
    assert "Decode columns=[id, a] version=1 id < 3" in shared.explain()
    assert "Union columns=[a] of 6" in shared.explain()
    assert shared.stats.filtered == 6
    assert waiting(subscription) == []

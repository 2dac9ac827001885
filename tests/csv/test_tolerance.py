"""What on_error passes over is told once, with counts and places; max_errors ends a reading that has more of it."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("x", pa.int64())])
DATA = b"1,2\nx,3\n4,5\n5\n6,y\n7,8\n9,z\n"
BAD = {"skip": 4, "collect": 4, "null": 3}  # with "null", fields that are not there are null and nothing is wrong


def told(**options):
    """(the table, the warnings)"""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = fm.read(DATA, fm.Csv(SCHEMA), **options)
    assert all(w.category is fm.RejectsWarning for w in caught)
    return table, [str(w.message) for w in caught]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("on_error", ["skip", "null", "collect"])
def test_what_is_passed_over_is_told_once_with_counts_by_code_and_the_first_three_places(on_error, threads):
    _, (message,) = told(on_error=on_error, threads=threads)
    assert message.startswith(f"{BAD[on_error]} records ")
    assert message.count("csv: record") == 3
    assert "csv: record 1, field 0 'id', byte 4: expected int64, found 'x'" in message
    assert "3 invalid" in message
    assert ("1 too_few_fields" in message) == (on_error != "null")


@pytest.mark.parametrize("most", [4, 1.0])
@pytest.mark.parametrize("on_error", ["skip", "null", "collect"])
def test_who_says_how_many_are_fine_is_not_warned(on_error, most):
    assert told(on_error=on_error, max_errors=most)[1] == []


def test_who_receives_the_rejects_is_not_warned_and_who_receives_none_of_them_is():
    assert told(on_error="collect", rejects=[])[1] == []
    assert len(told(on_error="skip", rejects=[])[1]) == 1


def test_a_clean_input_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fm.read(b"1,2\n", fm.Csv(SCHEMA), on_error="skip", max_errors=0)


@pytest.mark.parametrize(
    ("most", "fine"), [(4, True), (3, False), (0, False), (4 / 7, True), (0.57, False), (0.0, False)]
)
def test_more_bad_records_than_allowed_are_an_error_with_their_counts(most, fine):
    if fine:
        assert fm.read(DATA, fm.Csv(SCHEMA), on_error="skip", max_errors=most).num_rows == 3
        return
    with pytest.raises(fm.TooManyErrors, match="found 4 of 7") as raised:
        fm.read(DATA, fm.Csv(SCHEMA), on_error="skip", max_errors=most)
    assert raised.value.counts == {"invalid": 3, "too_few_fields": 1}
    assert (raised.value.records, raised.value.record, raised.value.column) == (7, 1, "id")


def test_max_errors_counts_over_all_inputs_of_a_reading(tmp_path):
    paths = [tmp_path / f"{i}.csv" for i in range(3)]
    for path in paths:
        path.write_bytes(b"1,2\nx,1\n")
    assert fm.read(paths, fm.Csv(SCHEMA), on_error="skip", max_errors=3).num_rows == 3
    with pytest.raises(fm.TooManyErrors, match=r"2\.csv: csv: record 1|found 3 of 6"):
        fm.read(paths, fm.Csv(SCHEMA), on_error="skip", max_errors=2)


def test_a_stream_of_batches_tells_at_its_end_and_counts_as_a_table_does():
    reader = fm.open(DATA, fm.Csv(SCHEMA), on_error="skip")
    with pytest.warns(fm.RejectsWarning, match=r"^4 records dropped"):
        assert sum(batch.num_rows for batch in reader) == 3
    with pytest.raises(fm.TooManyErrors):
        fm.open(DATA, fm.Csv(SCHEMA), on_error="skip", max_errors=3).read_all()


def test_counts_are_whole_where_a_range_has_many_bad_records():
    data = b"".join(b"%d,%s\n" % (i, b"y" if i % 3 == 0 else b"1") for i in range(300_000))
    with pytest.warns(
        fm.RejectsWarning, match=r"^100000 records dropped .*record 0, .*record 3, .*record 6, .*100000 invalid"
    ):
        assert fm.read(data, fm.Csv(SCHEMA), on_error="skip").num_rows == 200_000


@pytest.mark.parametrize("most", [-1, 1.5, True, "3", float("nan")])
def test_max_errors_is_a_number_or_a_share(most):
    with pytest.raises(fm.OptionError, match="max_errors"):
        fm.read(DATA, fm.Csv(SCHEMA), on_error="skip", max_errors=most)


def test_max_errors_needs_a_way_to_pass_over_errors():
    with pytest.raises(fm.OptionError, match="with 'raise'"):
        fm.read(DATA, fm.Csv(SCHEMA), max_errors=3)


def test_json_errors_are_counted_the_same_way():
    data = b'{"id": 1}\n{"id": "a"}\n{"id"\n'
    with pytest.raises(fm.TooManyErrors) as raised:
        fm.read(data, fm.Json(pa.schema([("id", pa.int64())])), on_error="skip", max_errors=1)
    assert raised.value.counts == {"wrong_type": 1, "malformed": 1}


def test_what_is_no_array_is_an_error_of_the_input_whatever_is_passed_over():
    with pytest.raises(fm.FormatError) as raised:
        fm.read(b'{"id": 1}\n', fm.Json(pa.schema([("id", pa.int64())]), records="array"), on_error="skip")
    assert raised.value.code == "not_an_array"


STREAMS = {
    "stream": lambda **options: (fm.Stream(fm.Csv(SCHEMA), **options), None),
    "shared": lambda **options: subscribed(fm.SharedStream(fm.Csv(SCHEMA), **options)),
}


def subscribed(shared):
    return shared, shared.subscribe(fm.ALL)


@pytest.fixture(params=sorted(STREAMS))
def made(request):
    """A stream of either kind, made with options; the subscription of a shared one is kept alive."""
    kept = []

    def make(**options):
        stream, subscription = STREAMS[request.param](**options)
        kept.append(subscription)
        return stream

    return make


@pytest.mark.parametrize("on_error", ["skip", "null"])
def test_a_stream_tells_once_when_its_last_origin_ends(made, on_error):
    stream = made(on_error=on_error)
    for origin in ("a", "b"):
        for i in range(0, len(DATA), 5):
            stream.push(DATA[i : i + 5], sequence=i // 5 + 1, origin=origin)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream.finish(origin="a")
    with pytest.warns(fm.RejectsWarning, match=rf"^{2 * BAD[on_error]} records .*origin 'a'.*{6} invalid") as seen:
        stream.finish(origin="b")
    assert (len(seen), seen[0].filename) == (1, __file__)


def test_a_stream_that_keeps_rejects_or_bears_so_many_is_quiet(made):
    for options in (
        {"on_error": "collect"},
        {"on_error": "skip", "max_errors": 4},
        {"on_error": "null", "max_errors": 1.0},
    ):
        stream = made(**options)
        stream.push(DATA, sequence=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            stream.finish()


@pytest.mark.parametrize("on_error", ["skip", "null", "collect"])
def test_a_stream_raises_in_the_call_that_finds_more_than_it_bears_and_goes_on(made, on_error):
    stream = made(on_error=on_error, max_errors=1)
    stream.push(b"1,2\nx,3\n", sequence=1)
    with pytest.raises(fm.TooManyErrors, match="at most 1 record to be bad, found 2 of 4") as raised:
        stream.push(b"y,3\n4,5\n", sequence=2)
    assert (raised.value.counts, raised.value.records) == ({"invalid": 2}, 4)
    assert (raised.value.origin, raised.value.sequence, raised.value.record, raised.value.column) == (0, 1, 1, "id")
    stream.push(b"6,7\n", sequence=3)
    stream.finish()
    assert stream.stats.rows == (5 if on_error == "null" else 3)


@pytest.mark.parametrize(("most", "fine"), [(0.5, True), (0.49, False)])
def test_a_share_of_a_streams_records_is_judged_when_every_origin_has_ended(made, most, fine):
    stream = made(on_error="skip", max_errors=most)
    stream.push(b"x,1\ny,2\n", sequence=1, origin=1)
    stream.push(b"1,1\n2,2\n", sequence=1, origin=2)
    stream.finish(origin=1)
    if fine:
        stream.finish(origin=2)
    else:
        with pytest.raises(fm.TooManyErrors, match="found 2 of 4"):
            stream.finish(origin=2)


def test_what_was_passed_over_before_a_checkpoint_counts_behind_it():
    stream = fm.Stream(fm.Csv(SCHEMA), on_error="skip", max_errors=1)
    stream.push(b"x,1\n", sequence=1)
    stream = fm.Stream.restore(stream.format, stream.checkpoint())
    with pytest.raises(fm.TooManyErrors, match="found 2 of 2, the first: origin 0, sequence 1: csv: record 0"):
        stream.push(b"y,1\n", sequence=2)


def test_of_many_bad_records_a_stream_words_only_the_first():
    stream = fm.Stream(fm.Csv(SCHEMA), on_error="skip")
    stream.push(b"x,1\n" * 50_000, sequence=1)
    with pytest.warns(fm.RejectsWarning, match=r"^50000 records .*record 0, .*record 1, .*record 2, .*50000 invalid"):
        stream.finish()


@pytest.mark.parametrize("options", [{"max_errors": 1}, {"on_error": "skip", "max_errors": -1}])
def test_a_stream_refuses_a_tolerance_of_no_sense(made, options):
    with pytest.raises(fm.OptionError, match="max_errors"):
        made(**options)


def test_of_several_formats_each_bears_so_many_bad_records_by_itself():
    other = fm.Csv(SCHEMA, delimiter=";")
    stream = fm.Stream({"a": fm.Csv(SCHEMA), "b": other}, on_error="skip", max_errors=1)
    stream.push(b"x,1\n", sequence=1, origin="a")
    stream.push(b"x;1\n", sequence=1, origin="b")
    with pytest.raises(fm.TooManyErrors, match="origin 'b'"):
        stream.push(b"y;1\n", sequence=2, origin="b")

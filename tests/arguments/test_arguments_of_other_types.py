"""Arguments of a type that nobody expects: the error is ours, names the argument and says what to write."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string())])
CSV, JSON = fm.Csv(SCHEMA), fm.Json(SCHEMA)
DATA = b"1,Oslo\n2,Rome\n"


def refusal(call, kind=fm.OptionError):
    with pytest.raises(kind) as raised:
        call()
    assert type(raised.value) is kind
    return str(raised.value)


@pytest.mark.parametrize("columns", [0, len])
def test_columns_that_are_no_names_are_refused(columns):
    for call in (lambda: fm.read(DATA, CSV, columns=columns), lambda: fm.Stream(JSON, columns=columns)):
        assert refusal(call).startswith("columns: expected a list of names, found ")


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ("id > 1", "found str 'id > 1'"),
        ({"id": 1}, "found dict {'id': 1}"),
        (pc.field("id") > 1, "found Expression"),
        (5, "found int 5"),
        ([["id", ">", 1]], "found a list; write the tuple ('id', '>', 1)"),
        (["id > 1"], "found 'id > 1'"),
    ],
)
def test_filters_that_are_none_are_refused_with_how_they_are_written(filters, words):
    for call in (lambda: fm.read(DATA, CSV, filters=filters), lambda: fm.Stream(CSV, filters=filters)):
        assert words in refusal(call)


def test_rejects_go_into_a_list():
    assert refusal(lambda: fm.read(DATA, CSV, rejects=True)).endswith("found True; write rejects=[]")


def test_texts_of_an_option_that_are_none_at_all_are_refused():
    assert refusal(lambda: fm.Csv(SCHEMA, nulls=None)).endswith("found None; write () for none")


def test_of_many_columns_those_like_the_one_asked_for_are_shown():
    wide = pa.schema([(f"column_{i}", pa.int8()) for i in range(50)])
    for format in (fm.Csv(wide), fm.Json(wide)):
        text = refusal(lambda format=format: fm.read(b"", format, columns=["colum_44"]), fm.SchemaError)
        assert "'column_44', " in text
        assert text.endswith(" and 30 more")


def test_a_level_of_separators_is_shown_as_it_is_written():
    for levels, words in (("|", "write [fm.Level('|')]"), (["|"], "write [fm.Level('|')]"), (5, "found 5")):
        assert refusal(lambda levels=levels: fm.Delimited(SCHEMA, levels=levels)).endswith(words)
    assert refusal(lambda: fm.Delimited(SCHEMA, levels=fm.Level("|"))).endswith("write [fm.Level(b'|')]")
    with_number = {"levels": [fm.Level("|")], "paths": {"id": 1}}
    assert refusal(lambda: fm.Delimited(SCHEMA, **with_number)).endswith("found 1; write (1,)")


def test_places_of_a_declared_format_that_are_none_are_named():
    assert refusal(lambda: fm.declared.fixed_width(SCHEMA, 3)).endswith("expected 2 widths, found 1")
    assert refusal(lambda: fm.declared.fixed_width(SCHEMA, ["3", "4"])).endswith("widths in bytes, found '3'")
    assert refusal(lambda: fm.declared.fixed_width(SCHEMA, {"id": 3})).endswith("(begin, end) in bytes, found 3")
    for log in (fm.declared.common_log, fm.declared.combined_log):
        assert "no column 'id'; a line has 'host', " in refusal(lambda log=log: log(SCHEMA), fm.SchemaError)


@pytest.mark.parametrize(
    "made",
    [
        lambda: fm.Pause(timeout="1"),
        lambda: fm.SpillToDisk("folder", timeout="1"),
        lambda: fm.BarrierAligner(["a"], timeout="1"),
    ],
)
def test_a_timeout_is_a_number_of_seconds(made):
    assert "timeout: expected seconds from 0, or None to wait, found '1'" in refusal(made)


def test_ends_of_a_flow_that_are_none_are_named():
    assert refusal(lambda: fm.Bridge(SCHEMA, backpressure=fm.Pause)).endswith("found the class Pause")
    assert refusal(lambda: fm.FanOut([1])).endswith("expected bridges or their producers, found 1")
    assert refusal(lambda: fm.SpillToDisk(5)).endswith("directory: expected a path, found 5")
    assert refusal(lambda: fm.SchemaWatch(JSON, state=5)).endswith("found 5")
    assert refusal(lambda: fm.SchemaWatch(JSON).observe(SCHEMA)).endswith("found Schema")


def test_a_plan_says_what_its_parser_takes():
    source = fm.pipeline().source("chunks", [DATA])
    with pytest.raises(fm.FlowError, match=r"expected items \(sequence, buffer\) or \(sequence, buffer, origin\)"):
        list(source.parse(CSV).run())
    assert ".select(...)" in refusal(lambda: source.parse(CSV, columns=["id"]))
    assert ".filter(...)" in refusal(lambda: source.parse(CSV, filters=[("id", ">", 1)]))


def test_a_checkpoint_of_another_kind_of_format_is_told_by_its_kind():
    text = refusal(lambda: fm.Stream.restore(JSON, fm.Stream(CSV).checkpoint()), fm.CheckpointError)
    assert "it was taken with fm.Csv, here it is fm.Json" in text


def test_patterns_of_times_hold_directives_that_are_read():
    for name, wrong in (
        ("%d %Z", "found '%Z' in '%d %Z'"),
        ("dd/MM/yyyy", "found 'dd/MM/yyyy', which has none"),
        ("%d%", "found '%' in '%d%'"),
    ):
        for made in (
            fm.Csv,
            fm.Json,
            lambda schema, **options: fm.Delimited(schema, levels=[fm.Level("|")], **options),
        ):
            assert refusal(lambda made=made, name=name: made(SCHEMA, timestamp_formats=[name])).endswith(wrong)

"""An argument by a name that is none of ours: the error says what it is called here, or who takes it."""

from __future__ import annotations

import inspect

import pyarrow as pa
import pytest

import formatter as fm
from formatter.mistaken_arguments import ELSEWHERE

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
CSV = fm.Csv(SCHEMA)


def refusal(taker, *values, **options):
    with pytest.raises(TypeError, match="got an unexpected keyword argument") as raised:
        taker(*values, **options)
    return str(raised.value).partition("; ")[2]


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("delimeter", "delimiter"),
        ("sep", "delimiter"),
        ("quote_char", "quote"),
        ("escapechar", "escape"),
        ("lineterminator", "record_delimiter"),
        ("skip_rows", "skip_lines"),
        ("na_values", "nulls"),
        ("null_values", "nulls"),
        ("date_format", "timestamp_formats"),
        ("dtype", "schema"),
    ],
)
def test_an_option_of_csv_by_the_name_it_has_elsewhere_is_told_by_ours(name, ours):
    assert refusal(fm.Csv, SCHEMA, **{name: "x"}) == f"it is called {ours!r} here"


def test_arguments_of_readers_and_streams_are_told_by_our_names():
    assert refusal(fm.read, b"", CSV, usecols=["id"]) == "it is called 'columns' here"
    assert refusal(fm.open, b"", CSV, filter=[]) == "it is called 'filters' here"
    assert refusal(fm.Stream, CSV, batch_size=8) == "it is called 'batch' here"
    assert refusal(fm.Json, SCHEMA, lines=True) == "it is called 'records' here"
    assert refusal(fm.Level, "|", sep="=") == "it is called 'separator' here"
    assert refusal(fm.BatchPolicy, rows=8) == "it is called 'max_rows' here"


def test_an_option_of_somebody_else_is_told_with_whose_it_is():
    assert refusal(fm.read, b"", CSV, sep=";") == "it is 'delimiter' of fm.Csv"
    assert refusal(fm.read, b"", CSV, header=True) == "it is 'header' of fm.Csv"
    assert refusal(fm.Stream, CSV, threads=2) == "it is 'threads' of fm.open, fm.read, fm.rewrite"
    assert "fm.read" in refusal(fm.Csv, SCHEMA, columns=["id"])


def test_a_name_that_nobody_has_is_told_with_those_there_are():
    assert refusal(fm.read, b"", CSV, moon=1).startswith("there is source, format, columns, filters, threads")


def test_inference_tells_what_may_be_given():
    with pytest.raises(fm.OptionError, match="found 'sep'; it is called 'delimiter' here"):
        fm.infer(b"a;b\n", sep=";")


def test_names_of_elsewhere_lead_to_options_that_there_are():
    ours = {name for public in fm.__all__ if callable(getattr(fm, public)) for name in parameters(getattr(fm, public))}
    assert set(ELSEWHERE) <= ours
    assert not {said for names in ELSEWHERE.values() for said in names.split()} & {"id", "_"}


def parameters(taker):
    try:
        return inspect.signature(taker).parameters
    except ValueError:  # of C
        return ()


def test_help_shows_the_options_of_a_stream():
    assert list(inspect.signature(fm.Stream).parameters)[:4] == ["format", "columns", "filters", "on_error"]

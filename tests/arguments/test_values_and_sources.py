"""What is given to be parsed is something else: the error names it, and nothing is taken apart in silence."""

from __future__ import annotations

import numpy as np
import pandas
import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
CSV = fm.Csv(SCHEMA)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("1,a", r"found one value, '1,a'; write \[value\]"),
        (b"1,a", r"found one value, b'1,a'; write \[value\]"),
        (pa.table({"text": ["1,a"]}), "found Table; name one of its columns"),
        (pandas.DataFrame({"text": ["1,a"]}), "found DataFrame; name one of its columns"),
        ({"text": "1,a"}, "found dict"),
        (None, "found NoneType"),
        (np.array([1, 2]), "found an array of int64"),
    ],
)
def test_what_is_no_array_of_records_is_refused_rather_than_taken_apart(values, words):
    with pytest.raises(fm.OptionError, match=words):
        fm.parse_records(values, CSV)


@pytest.mark.parametrize(
    "values", [pandas.Series(["1,a"]), np.array(["1,a"]), np.array([b"1,a"]), ("1,a",), iter(["1,a"])]
)
def test_records_come_in_any_sequence_of_texts(values):
    assert fm.parse_records(values, CSV).to_pylist() == [{"id": 1, "name": "a"}]


@pytest.mark.parametrize("wrong", [int, None, "text", 5])
def test_a_type_that_is_none_of_arrows_is_refused_with_an_example(wrong):
    with pytest.raises(fm.SchemaError, match=r"type: expected a pyarrow\.DataType, as pa\.int64\(\)"):
        fm.parse_values([b"1"], wrong)


def test_a_type_may_be_given_by_arrows_name():
    assert fm.parse_values([b"1"], "int8").type == pa.int8()


def test_the_name_of_the_column_of_sources_is_a_text():
    with pytest.raises(fm.OptionError, match="source: expected the name of a column, found True"):
        fm.parse_records([b"1,a"], CSV, source=True)

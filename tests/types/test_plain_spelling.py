"""Columns of one spelling (`spelling=plain`): values that every reader takes alike are read, those of other spellings are bad.

In: values in their usual spelling and in others, in CSV, in JSON, in lists of JSON. Out: verdicts.
"""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import formatter as fm

SPELLINGS = [  # type, JSON as it is plain, JSON in other spellings
    (pa.int64(), ["0", "-0", "12", "-9223372036854775808"], ["1.0", "1e3", "-0.0", "100e-2"]),
    (pa.int8(), ["127", "-128"], ["1.0"]),
    (pa.float64(), ["0", "-0.0", "-0e1", "1e3", "18446744073709551616"], ["-0"]),
    (pa.float16(), ["0", "1.5", "-0.0", "-1e-10", "1024"], ["-0"]),
    (pa.float32(), ["0", "1.5", "-0.0", "123456789012345678", "9.5e30"], ["-0", "9223372586610589697", "-9223372586610589697"]),
    (pa.date32(), ['"2024-02-29"', '"0001-01-01"'], ['"20240229"']),
    (
        pa.timestamp("us", "UTC"),
        ['"2024-02-29"', '"2024-02-29T10:11:12"', '"2024-02-29 10:11:12.123456"', '"2024-02-29T10:11:12Z"',
         '"2024-02-29T10:11:12-17:59"'],
        ['"2024-02-29T10:11"', '"2024-02-29T10"', '"2024-02-29t10:11:12"', '"2024-02-29T10:11:12z"', '"2024-02-29T10:11:12+18:00"',
         '"2024-02-29T10:11:12+0200"', '"2024-02-29T10:11:12+02"', '"2024-02-29T10:11:12.1234560"', '"20240229T101112"'],
    ),
    (
        pa.timestamp("us"),
        ['"2024-02-29"', '"2024-02-29T10:11:12.5"'],
        ['"2024-02-29T10:11:12Z"', '"2024-02-29T10:11:12.5+02:00"', '"2024-02-29T10:11:12,5"'],
    ),
]  # fmt: skip


def field(kind, **metadata):
    return pa.field("v", kind, metadata={"spelling": "plain", **metadata})


@pytest.mark.by_kernel
@pytest.mark.parametrize(("kind", "plain", "others"), SPELLINGS)
def test_json_values_of_other_spellings_are_bad_and_plain_ones_are_as_ever(kind, plain, others):
    for repeated in (1, 70):  # rows of one block, and of several
        values = (plain + others) * repeated
        records = [f'{{"v": {value}}}' for value in values]
        parsed = fm.parse_records_with_errors(records, fm.Json(pa.schema([field(kind)])))
        usual = fm.parse_records_with_errors(records, fm.Json(pa.schema([("v", kind)])))
        bad = [number for number, value in enumerate(values) if value in others]
        assert [error.record for error in parsed.details] == bad
        assert not usual.details
        kept = [number for number in range(len(values)) if number not in bad]
        assert parsed.data.column(0).take(kept).to_pylist() == usual.data.column(0).take(kept).to_pylist()
        assert parsed.data.column(0).take(bad).null_count == len(bad)


@pytest.mark.parametrize(("kind", "plain", "others"), SPELLINGS)
def test_items_of_lists_are_looked_at_too(kind, plain, others):
    schema = pa.schema([("l", pa.list_(field(kind)))])
    records = [f'{{"l": [{plain[0]}, {value}]}}' for value in plain + others]
    parsed = fm.parse_records_with_errors(records, fm.Json(schema))
    assert [error.record for error in parsed.details] == list(range(len(plain), len(records)))


@pytest.mark.by_kernel
@pytest.mark.parametrize(("kind", "plain", "others"), [row for row in SPELLINGS if pa.types.is_temporal(row[0])])
def test_times_of_other_spellings_are_bad_in_csv_too(kind, plain, others):
    texts = [json.loads(value) for value in plain + others] * 30
    parsed = fm.parse_records_with_errors(texts, fm.Csv(pa.schema([field(kind)]), delimiter="|"))
    assert {texts[error.record] for error in parsed.details} == {json.loads(value) for value in others}


def test_base64_is_of_the_standard_alphabet():
    schema = pa.schema([field(pa.binary(), encoding="base64")])
    parsed = fm.parse_records_with_errors(['{"v": "+/+/"}', '{"v": "-_-_"}'], fm.Json(schema))
    assert parsed.data.column(0).to_pylist() == [b"\xfb\xff\xbf", None]
    assert [error.code for error in parsed.details] == ["invalid"]


def test_another_word_for_it_is_refused():
    with pytest.raises(fm.SchemaError, match="spelling: expected 'plain', found 'odd'"):
        fm.read(b"1\n", fm.Csv(pa.schema([pa.field("v", pa.int64(), metadata={"spelling": "odd"})])))

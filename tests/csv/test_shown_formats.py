"""A format shows what was asked of it, and comes back from a pickle as it was."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

import formatter as fm

IDS = pa.schema([("id", pa.int64())])
WIDE = pa.schema([pa.field(f"c{i}", pa.int8()) for i in range(25)])
SHOWN = [
    (fm.Csv(IDS), "Csv({'id': int64})"),
    (fm.Csv(IDS, delimiter=";"), "Csv({'id': int64}, delimiter=';')"),
    (fm.Csv(IDS, quote="", nulls=["", "NA"]), "Csv({'id': int64}, quote=None, nulls=('', 'NA'))"),
    (fm.Csv(IDS, rescue="rest"), "Csv({'id': int64, 'rest': string}, rescue='rest')"),
    (fm.Csv(pa.schema([pa.field("id", pa.int64(), nullable=False)])), "Csv({'id': int64 not null})"),
    (fm.Csv(WIDE), "Csv({" + ", ".join(f"'c{i}': int8" for i in range(20)) + ", 5 more})"),
    (fm.Json(IDS, paths={"id": "/a"}), "Json({'id': int64}, paths=(('id', '/a'),))"),
    (fm.Native(IDS, endian="big"), "Native({'id': int64}, endian='big')"),
    (fm.Framed(fm.Native(IDS), length="u8"), "Framed(Native({'id': int64}), length='u8')"),
    (fm.Level(" ", key="="), "Level(b' ', key=b'=')"),
    (
        fm.Delimited(IDS, levels=[fm.Level(" ")], marks=['""']),
        "Delimited({'id': int64}, levels=(Level(b' '),), marks=(b'\"\"',))",
    ),
]


@pytest.mark.parametrize(("format", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_a_format_shows_what_was_asked_of_it_and_nothing_else(format, shown):
    assert repr(format) == shown


@pytest.mark.parametrize(("format", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_a_format_comes_back_from_a_pickle_as_it_was(format, shown):
    again = pickle.loads(pickle.dumps(format))
    assert again == format
    assert repr(again) == shown


def test_what_was_asked_is_there_by_name():
    assert fm.Csv(IDS, delimiter=";", header=True).asked == {"delimiter": ";", "header": True}
    assert fm.Csv(IDS, delimiter=",").asked == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"errors": "drop"}, "Csv: errors: expected 'strict', 'replace' or 'latin-1', found 'drop'"),
        ({"trim": "both"}, "Csv: trim: expected a bool, 'left' or 'right', found 'both'"),
        ({"quoted_nulls": 1.5}, "Csv: quoted_nulls: expected a bool or 'everywhere', found 1.5"),
        ({"skip_footer": 2**32}, "Csv: skip_footer: expected a whole number from 0, found 4294967296"),
        ({"max_quoted_lines": 0}, "Csv: max_quoted_lines: expected a whole number from 1, or None, found 0"),
    ],
)
def test_an_option_out_of_its_range_is_told_what_is_in_it(options, said):
    with pytest.raises(fm.OptionError) as raised:
        fm.Csv(IDS, **options)
    assert str(raised.value) == said

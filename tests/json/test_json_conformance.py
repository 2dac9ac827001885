"""nst/JSONTestSuite through the line format: each value stands in a record of its own, `{"v":...}`.

A line holds one record, so line breaks inside a valid document become spaces; in an invalid one they stay and cut it.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import formatter as fm

SUITE = Path(__file__).parents[1] / "corpus" / "json-test-suite"
CASES = sorted(SUITE.glob("*.json"))
VALUE_KEPT = pa.schema([pa.field("v", pa.binary(), metadata={b"raw": b"1"})])
VALUE_UNTOUCHED = pa.schema([("other", pa.int64())])

# Nothing reads the value, and its strings and brackets are in order: what is wrong lies between them. By kind of case.
UNTOUCHED_AND_ACCEPTED = {
    "array": 15, "incomplete": 3, "multidigit": 1, "number": 47, "object": 23, "single": 1, "string": 21, "structure": 19,
}  # fmt: skip

# UTF-8 is checked in every record; where an escape means no character the grammar has no objection.
REFUSED_WHERE_THE_SUITE_LEAVES_IT_OPEN = {
    "i_string_UTF-16LE_with_BOM", "i_string_UTF-8_invalid_sequence", "i_string_UTF8_surrogate_U+D800",
    "i_string_invalid_utf-8", "i_string_iso_latin_1", "i_string_lone_utf8_continuation_byte",
    "i_string_not_in_unicode_range", "i_string_overlong_sequence_2_bytes", "i_string_overlong_sequence_6_bytes",
    "i_string_overlong_sequence_6_bytes_null", "i_string_truncated-utf-8", "i_string_utf16BE_no_BOM",
    "i_string_utf16LE_no_BOM", "i_structure_UTF-8_BOM_empty_object",
}  # fmt: skip


def accepts(path: Path, format: fm.Json) -> bool:
    value = path.read_bytes()
    if path.name.startswith("y_"):
        value = value.replace(b"\n", b" ")
    try:
        return fm.read(b'{"v":' + value + b"}\n", format).num_rows == 1
    except fm.FormatError:
        return False


def named(prefix: str) -> list[Path]:
    return [path for path in CASES if path.name.startswith(prefix)]


@pytest.mark.parametrize("path", named("y_"), ids=lambda p: p.stem)
@pytest.mark.parametrize("validate", ["touched", "full"])
def test_every_valid_document_is_accepted(path, validate):
    assert accepts(path, fm.Json(VALUE_KEPT, validate=validate))
    assert accepts(path, fm.Json(VALUE_UNTOUCHED, validate=validate))


@pytest.mark.parametrize("path", named("n_"), ids=lambda p: p.stem)
def test_every_invalid_document_is_rejected_when_it_is_read_or_fully_validated(path):
    assert not accepts(path, fm.Json(VALUE_KEPT))
    assert not accepts(path, fm.Json(VALUE_KEPT, validate="full"))
    assert not accepts(path, fm.Json(VALUE_UNTOUCHED, validate="full"))


def test_untouched_values_are_checked_for_strings_and_brackets_only():
    accepted: dict[str, int] = {}
    for path in named("n_"):
        if accepts(path, fm.Json(VALUE_UNTOUCHED)):
            kind = path.stem.split("_")[1]
            accepted[kind] = accepted.get(kind, 0) + 1
    assert accepted == UNTOUCHED_AND_ACCEPTED


def test_where_the_suite_leaves_it_open_the_answer_is_written_down():
    refused = {path.stem for path in named("i_") if not accepts(path, fm.Json(VALUE_KEPT, validate="full"))}
    assert refused == REFUSED_WHERE_THE_SUITE_LEAVES_IT_OPEN

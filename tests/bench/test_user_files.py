"""A user's file, however messy, becomes one that every contestant can be told of; what is changed for that is said.

In: files made up here. Out: Inputs, and what Python's own csv reads of them. Refuses to know: how fast anything is.
"""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import formatter as fm
from bench.answers import answer_of, difference
from bench.oracle import python_table
from bench.plain_copies import plain_names
from bench.user_files import inferred, inferred_all

ROWS = [(i, f"{i % 27 + 1}.{i % 12 + 1}.2024", f"{i * 37 % 900},{i % 90 + 10}", f"Müller; Nr {i}") for i in range(300)]
BODY = "".join(f'{i};{day};{price};"{name}"\n' for i, day, price, name in ROWS)


def written(tmp_path, name, text, encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def check(source):
    """Ours and Python's own reading agree on what all are told."""
    assert difference(answer_of(fm.read(source.data, source.format())), answer_of(python_table(source))) is None


def test_a_plain_file_is_read_where_it_stands(tmp_path):
    path = written(tmp_path, "plain.csv", "id,name\n" + "".join(f"{i},n{i}\n" for i in range(200)))
    source = inferred(path)
    assert (source.path, source.header, source.schema.names) == (str(path), True, ["id", "name"])
    check(source)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_preambles_comments_dates_and_decimal_commas_are_no_hindrance(tmp_path, capsys, encoding):
    head = "# exported by the shop\n# in euros\nOrder No.;Datum;Betrag;Kunde\n"
    source = inferred(written(tmp_path, "shop.csv", head + BODY, encoding))
    assert not source.header
    assert source.data.decode() == BODY
    assert source.schema.names == ["Order_No", "Datum", "Betrag", "Kunde"]
    assert source.schema.types == [
        pa.int64(),
        pa.string(),
        pa.string(),
        pa.string(),
    ]  # what others cannot be told is text
    said = capsys.readouterr().out
    assert "shop.csv: Datum, Betrag: text for everybody" in said
    assert "the header: others could not be told; all read" in said
    check(source)


def test_a_comment_mark_inside_quotes_is_none(tmp_path):
    rows = "".join(f'{i},"a\n# no comment {i}"\n' for i in range(50))
    source = inferred(written(tmp_path, "quoted.csv", "# one\nid,text\n# two\n" + rows))
    assert source.data.decode() == rows
    check(source)


def test_names_that_sql_would_not_take_are_changed_for_everybody():
    assert plain_names(["a.b", "", 'x"y', "A_B", "ok", "größe"]) == ["a_b", "f1", "x_y", "A_B_", "ok", "größe"]


@pytest.mark.parametrize("layout", [json.dumps, lambda rows: json.dumps(rows, indent=2)])
def test_records_in_an_array_become_a_line_each(tmp_path, layout):
    rows = [{"id": i, "name": f"é{i}", "inner": {"x": i / 4}} for i in range(100)]
    source = inferred(written(tmp_path, "rows.json", layout(rows)))
    assert [json.loads(line) for line in source.data.splitlines()] == rows
    check(source)


def test_a_file_that_nobody_can_read_is_left_out_with_the_reason(tmp_path, capsys):
    good = written(tmp_path, "good.csv", "a,b\n" + "1,2\n" * 50)
    empty = written(tmp_path, "empty.csv", "")
    assert [source.name for source in inferred_all([str(empty), str(good)])] == ["good.csv"]
    assert "empty.csv: takes no part: " in capsys.readouterr().out

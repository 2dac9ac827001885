"""fm.explain: what a format takes an input for and why, with samples, as text and as HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import pyarrow as pa
import pytest

import formatter as fm

DATA = b"id;price\n1;2,5\n2;3,75\n"


def test_each_option_of_an_inferred_format_has_its_reason():
    found = fm.explain(DATA)
    assert {d.option: d.value for d in found.decisions} == {"delimiter": ";", "header": True, "decimal": ","}
    assert all(d.why for d in found.decisions)
    assert [(c.name, str(c.type), c.values) for c in found.columns] == [
        ("id", "int64", ("1", "2")),
        ("price", "double", ("2.5", "3.75")),
    ]
    assert (found.records, found.rejected, found.rejects, found.doubts) == (2, 0, (), ())


def test_a_given_format_is_held_against_what_the_sample_says():
    found = fm.explain(
        DATA, fm.Csv(pa.schema([("id", pa.int64()), ("price", pa.string())]), delimiter=";", nulls=("", "x"))
    )
    whys = {d.option: d.why for d in found.decisions}
    assert whys["delimiter"] == "3 of the first 3 records have 2 fields with it"
    assert whys["header"].startswith("given; the sample speaks for True: ")
    assert whys["nulls"].startswith("given")
    assert found.columns[1].why.startswith("given; its values speak for double: ")
    assert found.rejected == 1
    assert "found 'id'" in found.rejects[0]


def test_a_format_that_does_not_fit_the_header_is_explained_not_raised():
    found = fm.explain(DATA, fm.Csv(pa.schema([("id", pa.int64())]), header=True))
    assert found.records == 0
    assert "expected the columns 'id'" in found.rejects[0]


def test_doubts_stand_in_the_text():
    assert "begin with zeros that a number would lose" in str(fm.explain(b"zip,n\n00501,1\n12345,2\n"))


class Tags(HTMLParser):
    """Balanced tags, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_html_says_the_same_and_escapes_what_stands_in_the_data():
    page = Tags(fm.explain(b"id,name\n1,<b>x</b>\n2,&amp\n3,00\n")._repr_html_())
    assert page.open == []
    assert "<b>x</b>" in page.text
    assert any("'id' is no number" in text for text in page.text)


def test_json_is_explained_too():
    data = b'{"a": 1, "b": "x"}\n{"a": 2}\n'
    found = fm.explain(data, fm.Json(pa.schema([("a", pa.int64()), ("b", pa.string())])))
    assert [(c.name, c.values) for c in found.columns] == [("a", ("1", "2")), ("b", ("x",))]
    wrong = fm.explain(data, fm.Json(pa.schema([("a", pa.string())])))
    assert wrong.columns[0].why == "given; its values speak for int64"
    assert wrong.rejected == 2
    assert fm.explain(b"[", fm.Json(pa.schema([("a", pa.string())]))).records == 0


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\x00", b'"', b"a"])
def test_any_bytes_are_explained(data):
    assert str(fm.explain(data)).startswith("csv: ")
    assert Tags(fm.explain(data)._repr_html_()).open == []


def test_arguments_are_checked():
    with pytest.raises(fm.OptionError, match="rows"):
        fm.explain(DATA, rows=0)
    with pytest.raises(fm.OptionError, match="format"):
        fm.explain(DATA, fm.Native(pa.schema([("a", pa.int64())])))

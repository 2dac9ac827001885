"""CSV that is not UTF-8: the same table, errors and positions as its UTF-8 twin, for every cut and order.

In: text and encodings. Out: verdicts. Python's codecs are the oracle: a position in the source is the length of what
stands before it, encoded.
"""

from __future__ import annotations

import codecs
import io
import pickle
import random

import pyarrow as pa
import pytest
from oracle.stream_runs import (
    BOTH_ORDERS,
    cut_departure,
    departure,
    pieces_of,
    resumed_at_every_cut,
    shuffled,
    streamed,
    whole_read,
)

import formatter as fm
from formatter.splits import Part, SplitReader

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.float64())])
LATIN = 'id,name,price\r\n1,Ménage,1.5\r\n2,"ÿ ""ß"", é\nü",2\r\n\r\nx,naïve,3\r\n4,é,é\r\n5,ÿ\r\n6,,'
WIDE = LATIN + '\r\n7,"\U0001f600 日本",7\r\n8,\U0001f4a9,\U0001f4a9\r\n9,日,9'
STATED = ("latin-1", "utf-16-le", "utf-16-be")


def text_of(encoding: str) -> str:
    return LATIN if encoding == "latin-1" else WIDE


def format_of(encoding: str, **options) -> fm.Csv:
    return fm.Csv(SCHEMA, header=True, encoding=encoding, **options)


@pytest.mark.parametrize("encoding", [*STATED, "utf-16"])
@pytest.mark.parametrize("on_error", ["null", "skip", "collect"])
def test_the_table_is_that_of_the_text_in_utf_8(encoding, on_error, kernel):
    text = text_of(encoding)
    expected = whole_read(text.encode(), format_of("utf-8"), on_error)
    found = whole_read(text.encode(encoding), format_of(encoding), on_error)
    assert found.rows == expected.rows
    assert [r[3] for r in found.rejects] == [r[3] for r in expected.rejects]
    assert [r[5] for r in found.rejects] == [r[5] for r in expected.rejects]


@pytest.mark.parametrize("encoding", [*STATED, "utf-16"])
def test_error_positions_are_those_of_the_source(encoding):
    text = text_of(encoding)
    expected = whole_read(text.encode(), format_of("utf-8"), "collect")
    found = whole_read(text.encode(encoding), format_of(encoding), "collect")
    assert len(found.rejects) == len(expected.rejects) > 1
    for reject, twin in zip(found.rejects, expected.rejects, strict=True):
        before = text.encode()[: twin[0]].decode()
        assert reject[0] == len(before.encode(encoding))


@pytest.mark.parametrize("encoding", STATED)
@pytest.mark.parametrize("on_error", ["raise", "collect"])
def test_every_cut_gives_what_the_whole_gives(encoding, on_error):
    data = text_of(encoding).encode(encoding)
    whole = whole_read(data, format_of(encoding), on_error)
    orders = [(0, 1)] if on_error == "raise" else BOTH_ORDERS
    assert cut_departure(data, format_of(encoding), whole, on_error, orders=orders) is None


@pytest.mark.parametrize("encoding", STATED)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 63, 64, 65])
def test_buffers_in_any_order_give_what_the_whole_gives(encoding, size):
    data = (text_of(encoding) + "\n").encode(encoding) + ('10,"é\n",1\n' * 50).encode(encoding)
    whole = whole_read(data, format_of(encoding), "collect")
    pieces = pieces_of(data, size)
    for seed in range(3):
        run = streamed(pieces, format_of(encoding), shuffled(len(pieces), seed), "collect", many=seed * 5 or None)
        assert departure(run, whole, len(pieces)) is None, seed


@pytest.mark.parametrize("encoding", STATED)
def test_separators_are_characters_of_the_text(encoding):
    format = fm.Csv(SCHEMA, delimiter="§", record_delimiter="¶é", encoding=encoding, quote=None)
    data = "1§a¶2§0¶éx§c¶é3§Ä§0.5".encode(encoding)
    whole = whole_read(data, format, "collect")
    assert [(r[0], r[3]) for r in whole.rejects] == [(len("1§a¶2§0¶é".encode(encoding)), "too_few_fields")]
    assert cut_departure(data, format, whole, "collect") is None


@pytest.mark.parametrize("encoding", STATED)
def test_a_byte_order_mark_is_no_data(encoding):
    mark = {"latin-1": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}[encoding]
    data = mark + "id,name,price\n1,é,x\n".encode(encoding)
    with pytest.raises(fm.FormatError) as raised:
        fm.read(data, format_of(encoding))
    assert raised.value.byte_offset == len(mark) + len("id,name,price\n1,é,".encode(encoding))
    for header in (True, False):
        format = fm.Csv(SCHEMA, header=header, encoding=encoding)
        data = mark + ("id,name,price\n" * header + "1,é,2\n").encode(encoding)
        assert fm.read(data, format).to_pylist() == [{"id": 1, "name": "é", "price": 2.0}]
        whole = whole_read(data, format)
        assert cut_departure(data, format, whole) is None


@pytest.mark.parametrize(("mark", "encoding"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")])
def test_utf_16_is_told_by_its_mark(mark, encoding, tmp_path):
    data = mark + "id,name,price\n1,é,2\n".encode(encoding)
    path = tmp_path / "data.csv"
    path.write_bytes(data)
    for source in (data, path):
        assert fm.read(source, format_of("utf-16"))["name"].to_pylist() == ["é"]
    assert fm.read("1,é,2\n".encode("utf-16-le"), fm.Csv(SCHEMA, encoding="utf-16"))["name"].to_pylist() == ["é"]


def test_utf_16_without_a_stated_order_is_refused_where_no_mark_can_tell():
    with pytest.raises(fm.OptionError, match="utf-16-le"):
        fm.Stream(fm.Csv(SCHEMA, encoding="utf-16"))
    with pytest.raises(fm.OptionError, match="utf-16-le"):
        fm.parse_records([b""], fm.Csv(SCHEMA, encoding="utf-16"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_surrogate_without_its_partner_is_bad_text_in_its_own_field_only(encoding):
    order = "little" if encoding == "utf-16-le" else "big"
    lone = [u.to_bytes(2, order) for u in (0xD83D, 0xDE00)]
    for unit in lone:
        data = "1,".encode(encoding) + unit + ",1\n2,b,2\n3,".encode(encoding) + unit + b"".join(lone)
        data += ",3\n".encode(encoding)
        whole = whole_read(data, fm.Csv(SCHEMA, encoding=encoding), "collect")
        codes = [(r[0], r[3]) for r in whole.rejects]
        assert codes == [(4, "bad_utf8"), (len("1,x,1\n2,b,2\n3,") * 2, "bad_utf8")]
        assert [r[0] for r in whole.rows] == [2]
        assert cut_departure(data, fm.Csv(SCHEMA, encoding=encoding), whole, "collect") is None


def test_half_a_character_at_the_end_is_bad_text():
    data = "1,a,1\n2,b".encode("utf-16-le") + b"x"
    whole = whole_read(data, fm.Csv(SCHEMA, encoding="utf-16-le", ragged="pad"), "collect")
    assert [(r[3], r[0], r[2]) for r in whole.rejects] == [("bad_utf8", 16, "name")]
    run = streamed(pieces_of(data, 1), fm.Csv(SCHEMA, encoding="utf-16-le", ragged="pad"), None, "collect")
    assert departure(run, whole, len(data)) is None


def test_a_file_larger_than_a_window_is_read_in_parts(tmp_path):
    rows = 600_000
    path = tmp_path / "data.csv"
    text = "".join(f'{i},"é{i % 7}\n",{i}\n' for i in range(rows))
    for encoding in ("latin-1", "utf-16-le"):
        path.write_bytes(text.encode(encoding))
        for threads in (1, 2):
            table = fm.read(path, fm.Csv(SCHEMA, encoding=encoding), threads=threads)
            assert table["id"].to_pylist() == list(range(rows))
            assert table["name"][-1].as_py() == f"é{(rows - 1) % 7}\n"


@pytest.mark.parametrize("encoding", STATED)
def test_values_of_an_array_are_records(encoding):
    values = [line.encode(encoding) for line in ("1,é,2", '2,"ÿ,",3\n', "x,ä,1", "")]
    got = fm.parse_records(values, fm.Csv(SCHEMA, encoding=encoding))
    assert got["name"].to_pylist() == ["é", "ÿ,", "ä", None]
    assert got["id"].to_pylist() == [1, 2, None, None]


@pytest.mark.parametrize("encoding", STATED)
def test_filters_comments_and_escapes_work_as_in_utf_8(encoding):
    options = {"comment": "#", "escape": "\\", "trim": True}
    text = "".join(random.Random(1).choice(["1,é\\,é,2\n", '# "x\n', '2, "ü\\"" ,3\n', "\n"]) for _ in range(200))
    plain = fm.read(text.encode(), fm.Csv(SCHEMA, **options), filters=[("id", ">", 1)], columns=["name"])
    found = fm.read(
        text.encode(encoding), fm.Csv(SCHEMA, encoding=encoding, **options), filters=[("id", ">", 1)], columns=["name"]
    )
    assert found.equals(plain)


def test_a_checkpoint_goes_on_inside_a_character():
    text = "id,name,price\n" + "1,\U0001f600,2\n" * 5
    data = text.encode("utf-16-le")
    format = format_of("utf-16-le")
    for cut, batches in resumed_at_every_cut(data, format):
        assert sum(b.num_rows for b in batches) == 5, cut


def test_a_record_longer_than_the_limit_counts_source_bytes():
    data = "1,aaaa,2\n2,éééééééééé,3\n".encode("utf-16-le")
    stream = fm.Stream(fm.Csv(SCHEMA, encoding="utf-16-le"), max_record_bytes=16, on_error="collect")
    batches = stream.push(data, sequence=1) + stream.finish()
    assert sum(b.num_rows for b in batches) == 1
    assert stream.rejects()["code"].to_pylist() == ["record_too_long"]


def test_encodings_are_checked_and_travel():
    format = fm.Csv(SCHEMA, encoding="ISO-8859-1")
    assert format.encoding == "latin-1"
    assert pickle.loads(pickle.dumps(format)) == format
    assert hash(format) != hash(fm.Csv(SCHEMA))
    for encoding in ("cp1250", "nonsense", 7):
        with pytest.raises(fm.OptionError, match="encoding"):
            fm.Csv(SCHEMA, encoding=encoding)
    with pytest.raises(fm.OptionError, match="delimiter"):
        fm.Csv(SCHEMA, delimiter="日", encoding="latin-1")
    with pytest.raises(fm.OptionError, match="delimiter"):
        fm.Csv(SCHEMA, delimiter=b"\xa7", encoding="latin-1")


def split_rows(data: bytes, format: fm.Csv, **options) -> list[dict]:
    return [
        row for batch in SplitReader(format, **options).batches(io.BytesIO(data), Part()) for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_a_header_that_the_input_ends_is_found_whatever_ends_records_and_in_either_order(order):
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    mark = codecs.BOM_UTF16_LE if order == "utf-16-le" else codecs.BOM_UTF16_BE
    for record_delimiter in ("\n", "#", "||"):
        format = fm.Csv(schema, record_delimiter=record_delimiter, header=True, encoding="utf-16")
        lacking = mark + "id".encode(order)
        whole = mark + f"name,id{record_delimiter}x,1".encode(order)
        for read in (lambda data, f=format: fm.read(data, f).to_pylist(), lambda data, f=format: split_rows(data, f)):
            assert read(whole) == [{"id": 1, "name": "x"}]
            assert read(mark + "name,id".encode(order)) == []
            with pytest.raises(fm.SchemaError, match="expected the columns 'name'"):
                read(lacking)


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_a_header_whose_names_do_not_count_is_passed_over_in_either_order(order):
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    mark = codecs.BOM_UTF16_LE if order == "utf-16-le" else codecs.BOM_UTF16_BE
    data = mark + "any,other\n1,x\n".encode(order)
    format = fm.Csv(schema, header=True, encoding="utf-16")
    assert split_rows(data, format, header_by_position=True) == [{"id": 1, "name": "x"}]


def test_bad_records_behind_a_marked_header_in_latin_1_are_rows_by_its_names():
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    data = codecs.BOM_UTF8 + "name,id\nzo\xeb,1\nx,bad\n".encode("latin-1")
    format = fm.Csv(schema, header=True, encoding="latin-1")
    assert split_rows(data, format, on_error="keep", raw_column="raw") == [
        {"id": 1, "name": "zo\xeb", "raw": None},
        {"id": None, "name": "x", "raw": "x,bad"},
    ]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
def test_bad_records_are_rows_of_views_too(kind):
    text = str if kind == pa.string_view() else str.encode
    schema = pa.schema([("id", pa.int64()), ("name", kind)])
    found = split_rows(b"1,a name of more than twelve bytes\nbad,x\n", fm.Csv(schema), on_error="keep")
    assert found == [{"id": 1, "name": text("a name of more than twelve bytes")}, {"id": None, "name": text("x")}]

"""What of a CSV record has no column or does not fit arrives as one object: contents by name, or by the field's number."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string()), ("price", pa.float64())])
FORMAT = fm.Csv(SCHEMA, rescue="_rescued")


def rescued(data: bytes, format: fm.Csv = FORMAT, **options) -> list[str | None]:
    return fm.read(data, format, **options).column("_rescued").to_pylist()


def test_it_is_null_where_every_field_fitted():
    assert rescued(b'1,"x",2.5\n,,\n3,y,\r\n') == [None, None, None]


def test_misfits_are_kept_by_name_as_their_content(kernel):
    assert rescued('x,a,1\n99999999999,"b","1,5"\n3,"say ""hi""",é\n'.encode()) == [
        '{"id":"x"}', '{"id":"99999999999","price":"1,5"}', '{"price":"é"}',
    ]  # fmt: skip


def test_fields_beyond_the_schema_are_kept_by_number_and_those_that_are_not_there_are_null():
    assert rescued(b'1,a,2,more,"a ""b""",\n2,b\n') == ['{"3":"more","4":"a \\"b\\"","5":null}', '{"price":null}']


@pytest.mark.parametrize("ragged", ["error", "pad", "truncate", "fit"])
def test_how_many_fields_a_record_has_is_no_error_whatever_ragged_says(ragged):
    found = rescued(b"1,a,2,3\r\n1\r\n", fm.Csv(SCHEMA, ragged=ragged, rescue="_rescued"))
    assert found == ['{"3":"3"}', '{"name":null,"price":null}']


def test_columns_that_only_the_header_names_are_kept_by_that_name():
    format = fm.Csv(SCHEMA, header=True, rescue="_rescued")
    data = b'z,id,name,"say ""x""",price,id\n7,1,a,,1.5,8\n,2,b\n9,3,c,d,2,4,5\n'
    assert rescued(data, format) == [
        '{"z":"7","say \\"x\\"":null,"id":"8"}', '{"price":null,"z":null}', '{"z":"9","say \\"x\\"":"d","id":"4","6":"5"}',
    ]  # fmt: skip
    assert fm.read(data, format, columns=["price"]).column(0).to_pylist() == [1.5, None, 2.0]


def test_null_tokens_are_null_and_quoted_ones_are_text():
    format = fm.Csv(SCHEMA, nulls=("", "NA"), rescue="_rescued")
    assert rescued(b'1,a,2,NA,"NA",\nNA,NA,NA\n', format) == ['{"3":null,"4":"NA","5":null}', None]


@pytest.mark.parametrize(
    ("options", "data", "expected"),
    [
        ({"delimiter": "||"}, b"x||a||1||9\n", '{"id":"x","3":"9"}'),
        ({"delimiter": "\t", "quote": None}, b'x\ta\t1\t"9\n', '{"id":"x","3":"\\"9"}'),
        ({"escape": "\\", "quote": None}, b"x\\,y,a,1\n", '{"id":"x,y"}'),
        ({"trim": True}, b" x , a , 1 , 9 \n", '{"id":"x","3":"9"}'),
        ({"record_delimiter": "\r\n|"}, b"x,a,1,9\r\n|", '{"id":"x","3":"9"}'),
        ({"encoding": "latin-1"}, "é,a,1,ü\n".encode("latin-1"), '{"id":"é","3":"ü"}'),
        ({"encoding": "utf-16"}, "é,a,1,ü\n".encode("utf-16"), '{"id":"é","3":"ü"}'),
        ({"quotes": "lenient"}, b'x"y,a,1\n', '{"id":"x\\"y"}'),
        ({"errors": "replace"}, b"1,a,2,\xff\n", '{"3":"�"}'),
    ],
)
def test_every_dialect_has_it(options, data, expected):
    assert rescued(data, fm.Csv(SCHEMA, rescue="_rescued", **options)) == [expected]


def test_text_that_is_no_utf8_stays_an_error():
    for data in (b"1,a,2\n1,\xff,2\n", b"1,a,2\n1,a,2,\xff\n", b"1,a,2\n\xff,a,2\n"):
        with pytest.raises(fm.FormatError) as raised:
            rescued(data)
        assert (raised.value.code, raised.value.record) == ("bad_utf8", 1)
        assert rescued(data, on_error="skip", max_errors=1) == [None]


def test_rows_that_a_filter_drops_leave_nothing_and_misfits_are_null_to_it():
    data = b"".join(b"%s,n%d,%d,more\n" % (b"%d" % i if i % 3 else b"x", i, i) for i in range(300))
    above = rescued(data, filters=[("id", ">", 100)])
    assert above == ['{"3":"more"}'] * sum(i % 3 > 0 for i in range(101, 300))
    missing = fm.read(data, FORMAT, columns=["name", "_rescued"], filters=[("id", "is_null"), ("name", "!=", "n0")])
    assert missing.to_pylist() == [{"name": f"n{i}", "_rescued": '{"3":"more"}'} for i in range(3, 300, 3)]


def test_texts_that_a_parser_refuses_are_rescued():
    schema = pa.schema([pa.field("price", pa.decimal128(18, 2), metadata={"parser": "currency"}), ("id", pa.int32())])
    found = fm.read(b"$ 1.50,1\nnothing,2\n", fm.Csv(schema, rescue="_rescued")).to_pylist()
    assert [row["_rescued"] for row in found] == [None, '{"price":"nothing"}']


def test_values_of_an_array_have_it_each():
    values = pa.array(["1,a,2", "x,a", '"', None, "1,a,2,3"])
    found = fm.parse_records(values, FORMAT).column("_rescued").to_pylist()
    assert found == [None, '{"id":"x","price":null}', '{"_rescued":"\\""}', None, '{"3":"3"}']


def test_the_format_is_the_same_when_pickled_or_given_its_own_schema_again():
    assert pickle.loads(pickle.dumps(FORMAT)) == FORMAT
    assert fm.Csv(FORMAT.schema, rescue="_rescued") == FORMAT
    assert FORMAT.schema.names == [*SCHEMA.names, "_rescued"]

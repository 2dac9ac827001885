"""Records at the edge of what there can be: a value or a clear error, in time and memory in proportion. One seed a kind.

In: huge inputs made on the spot. Out: verdicts. CPU time is compared between sizes, never with a clock on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest

import formatter as fm

TWO = pa.schema([("a", pa.string()), ("n", pa.int64())])
GIGABYTE = 1_000_000_000


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def assert_in_proportion(of_size: Callable[[int], Callable[[], object]], size: int) -> None:
    """Eight times the input takes less than thirty times the time: squares would take sixty-four."""
    small, large = of_size(size), of_size(8 * size)
    small()
    assert seconds(large) < 30 * max(min(seconds(small), seconds(small)), 0.001)


def codes(data: bytes, format: fm.Csv | fm.Json, **options) -> tuple[int, list[str]]:
    rejects: list[pa.Table] = []
    table = fm.read(data, format, on_error="collect", rejects=rejects, **options)
    return table.num_rows, rejects[0]["code"].to_pylist()


@pytest.mark.parametrize("validate", ["touched", "full"])
class TestJson:
    @pytest.mark.parametrize("opening", ["[", '{"k":', '[{"k":'])
    @pytest.mark.parametrize("depth", [1_000, 20_000, 1_000_000])
    def test_deep_nesting_costs_its_own_record_only(self, validate, opening, depth):
        closing = "".join({"[": "]", "{": "}"}[c] for c in reversed(opening) if c in "[{")
        deep = f'{{"x":{opening * depth}1{closing * depth},"n":1}}\n'.encode()
        rows, found = codes(deep + b'{"n":2}\n', fm.Json(TWO, validate=validate))
        levels = depth * opening.count("[") + depth * opening.count("{")
        assert (rows, found) == ((2, []) if levels < 1024 else (1, ["too_deep"]))
        assert codes(deep[: len(deep) // 3], fm.Json(TWO, validate=validate))[0] == 0

    def test_a_string_of_a_hundred_megabytes(self, validate):
        format = fm.Json(TWO, validate=validate)
        data = b'{"a":"' + b"x" * 100_000_000 + b'","n":1}\n{"a":"y","n":2}\n'
        assert fm.read(data, format)["n"].to_pylist() == [1, 2]
        lengths = fm.read(data, format, columns=["a"])["a"].combine_chunks()
        assert [lengths.buffers()[1].size > 0, len(lengths[0].as_buffer())] == [True, 100_000_000]

    def test_a_million_keys_in_one_object(self, validate):
        def read(keys: int) -> Callable[[], object]:
            inner = b",".join(b'"k%d":1' % i for i in range(keys))
            data = b"{" + inner + b',"n":7,"m":{' + inner + b"}}\n"
            schema = pa.schema([("n", pa.int64()), ("m", pa.map_(pa.string(), pa.int8()))])
            flat, nested = (
                fm.Json(schema, validate=validate),
                fm.Json(schema, validate=validate, on_duplicate_key="error"),
            )

            def work() -> None:
                assert fm.read(data, flat, columns=["n"])["n"].to_pylist() == [7]
                assert len(fm.read(data, nested)["m"][0]) == keys

            return work

        assert_in_proportion(read, 40_000)

    def test_one_key_a_million_times(self, validate):
        data = b"{" + b'"n":1,' * 1_000_000 + b'"n":2}\n'
        assert fm.read(data, fm.Json(TWO, validate=validate))["n"].to_pylist() == [2]
        assert fm.read(data, fm.Json(TWO, validate=validate, on_duplicate_key="first"))["n"].to_pylist() == [1]
        assert codes(data, fm.Json(TWO, validate=validate, on_duplicate_key="error")) == (0, ["duplicate_key"])

    @pytest.mark.parametrize(
        ("text", "integer", "number", "decimal"),
        [
            (b"1" * 1_000_000, "overflow", "overflow", "overflow"),
            (b"-0." + b"3" * 1_000_000, "precision", -1 / 3, "precision"),
            (b"1e" + b"9" * 1_000_000, "overflow", "overflow", "overflow"),
            (b"1e-" + b"9" * 1_000_000, "precision", 0.0, "precision"),
            (b"1" + b"0" * 1_000_000 + b"e-1000000", 1, 1.0, Decimal(1)),
            (b"12." + b"0" * 1_000_000, 12, 12.0, Decimal(12)),
        ],
        ids=["digits", "fraction", "exponent", "small", "cancelling", "zeros"],
    )
    def test_a_number_of_a_million_digits(self, validate, text, integer, number, decimal):
        for kind, expected in ((pa.int64(), integer), (pa.float64(), number), (pa.decimal128(38, 0), decimal)):
            format = fm.Json(pa.schema([("v", kind)]), validate=validate)
            data = b'{"v":' + text + b"}\n"
            if isinstance(expected, str):
                assert codes(data, format) == (0, [expected])
            else:
                assert fm.read(data, format)["v"].to_pylist() == [expected]

    @pytest.mark.slow
    def test_ten_million_keys_and_a_string_of_a_gigabyte(self, validate):
        format = fm.Json(TWO, validate=validate)
        data = b"{" + b",".join(b'"k%d":1' % i for i in range(10_000_000)) + b',"n":7}\n'
        assert fm.read(data, format, columns=["n"])["n"].to_pylist() == [7]
        assert codes(data, fm.Json(TWO, validate=validate, unknown="error")) == (0, ["unknown_key"])
        del data
        data = b'{"a":"' + b"x" * GIGABYTE + b'","n":1}\n{"n":2}\n'
        assert fm.read(data, format, columns=["n"])["n"].to_pylist() == [1, 2]
        table = fm.read(data, format)
        assert len(table["a"].chunk(0)[0].as_buffer()) == GIGABYTE


@pytest.mark.parametrize("layout", ["array", "concatenated"])
def test_documents_without_end_meet_the_streams_limit(layout):
    stream = fm.Stream(fm.Json(TWO, records=layout), max_record_bytes=1 << 20, on_error="collect")
    for i in range(400):
        stream.push(b'[{"a":[' if i == 0 else b"1," * 10_000, sequence=i + 1)
        assert stream.stats.pending_bytes <= 4 << 20
    stream.finish()
    assert stream.rejects()["code"].to_pylist() == ["record_too_long"]
    deep = b"[" * 20_000 + b"]" * 20_000
    assert fm.read(deep, fm.Json(TWO, records=layout), on_error="skip").num_rows == 0


class TestCsv:
    @pytest.mark.parametrize("quote", [b"", b'"'])
    @pytest.mark.parametrize(
        "options", [{}, {"escape": "\\"}, {"encoding": "latin-1"}], ids=["plain", "escape", "latin-1"]
    )
    def test_a_field_of_a_hundred_megabytes(self, quote, options):
        data = quote + b"x" * 100_000_000 + quote + b",1\nb,2\n"
        for columns in (["n"], None):
            table = fm.read(data, fm.Csv(TWO, **options), columns=columns)
            assert table["n"].to_pylist() == [1, 2]
        assert len(table["a"].chunk(0)[0].as_buffer()) == 100_000_000

    def test_quotes_without_end(self):
        assert codes(b'a,2\n"' + b"a,2\n" * 1_000_000, fm.Csv(TWO)) == (1_000_000, ["unterminated_quote"])
        assert codes(b'"' * 1_000_001 + b",1\n", fm.Csv(TWO)) == (0, ["unterminated_quote"])
        assert len(fm.read(b'"' + b'""' * 5_000_000 + b'",1\n', fm.Csv(TWO))["a"][0].as_py()) == 5_000_000

    def test_a_million_fields_in_a_record(self):
        data = b",".join([b"1"] * 1_000_000) + b"\nb,2\n"
        assert codes(data, fm.Csv(TWO)) == (1, ["too_many_fields"])
        assert fm.read(data, fm.Csv(TWO, ragged="truncate"))["n"].to_pylist() == [1, 2]
        assert codes(b"," * 5_000_000, fm.Csv(TWO)) == (0, ["too_many_fields"])

    def test_tens_of_thousands_of_columns(self):
        names = [f"c{i}" for i in range(30_000)]
        schema = pa.schema([(name, pa.int8()) for name in names])
        line = b",".join([b"1"] * len(names)) + b"\n"
        data = ",".join(names).encode() + b"\n" + line * 20
        wanted = ["c29999", "c0", "c15000"]
        table = fm.read(data, fm.Csv(schema, header=True), columns=wanted)
        assert table.column_names == wanted
        assert table.num_rows == 20
        assert fm.read(line * 3, fm.Csv(schema)).num_rows == 3

    @pytest.mark.parametrize("line", [b"\n", b"\r\n", b"\0\n", b"x\n", b'"\n"\n', b"\r"])
    def test_millions_of_odd_lines_cost_in_proportion(self, line):
        def read(count: int) -> Callable[[], object]:
            data = line * count + b",1\n"
            return lambda: fm.read(data, fm.Csv(TWO), on_error="skip", threads=1)

        assert_in_proportion(read, 10_000)

    def test_nuls_are_characters(self):
        data = b"\0" * 1_000_000 + b",1\n\0,2\n"
        assert [len(v) for v in fm.read(data, fm.Csv(TWO))["a"].to_pylist()] == [1_000_000, 1]
        assert codes(b"a,\0\n", fm.Csv(TWO)) == (0, ["invalid"])

    def test_numbers_of_a_million_digits(self):
        schema = pa.schema([("i", pa.int64()), ("f", pa.float64()), ("d", pa.decimal128(38, 4))])
        zeros, ones = b"0" * 1_000_000, b"1" * 1_000_000
        row = b",".join([zeros + b"7", b"0." + ones, b"0.5" + zeros]) + b"\n"
        assert fm.read(row, fm.Csv(schema)).to_pylist() == [{"i": 7, "f": 1 / 9, "d": Decimal("0.5")}]
        data = b"".join(b",".join(ones if i == k else b"1" for i in range(3)) + b"\n" for k in range(3))
        assert codes(data, fm.Csv(schema)) == (0, ["overflow"] * 3)

    def test_a_long_record_is_not_followed_by_every_range_it_covers(self):
        def read(size: int) -> Callable[[], object]:
            data = b"x" * size + b",1\nb,2\n"
            return lambda: fm.read(data, fm.Csv(TWO), columns=["n"], threads=2)

        assert_in_proportion(read, 50_000_000)

    @pytest.mark.slow
    @pytest.mark.parametrize("options", [{}, {"escape": "\\"}], ids=["plain", "escape"])
    def test_a_record_beyond_two_gigabytes_is_an_error_of_its_own(self, options):
        data = b"x" * (2 * GIGABYTE + 200_000_000) + b",1\nb,2\n"
        assert codes(data, fm.Csv(TWO, **options), columns=["n"]) == (1, ["record_too_long"])
        assert codes(data[:-7], fm.Csv(TWO, **options), columns=["n"]) == (0, ["record_too_long"])

    @pytest.mark.slow
    @pytest.mark.parametrize("quote", [b"", b'"'])
    def test_a_field_of_a_gigabyte(self, quote):
        data = quote + b"x" * GIGABYTE + quote + b",1\nb,2\n"
        assert fm.read(data, fm.Csv(TWO), columns=["n"])["n"].to_pylist() == [1, 2]
        table = fm.read(data, fm.Csv(TWO))
        assert len(table["a"].chunk(0)[0].as_buffer()) == GIGABYTE


@pytest.mark.parametrize(
    ("line", "options"),
    [
        (b"x,1\n", {"escape": "\\"}),
        (b"x,1\n", {"comment": "#"}),
        (b"x\n", {"ragged": "pad"}),
        (b"x,1||", {"record_delimiter": "||"}),
    ],
    ids=["escape", "comment", "pad", "delimiter"],
)
def test_many_rows_of_every_dialect_take_memory_for_themselves_only(line, options):
    rows = 1_000_000
    assert fm.read(line * rows, fm.Csv(TWO, **options)).num_rows == rows

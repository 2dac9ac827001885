"""unmatched="counted" by example: what is counted, what is told all the same, where it is refused."""

import random
import re

import pyarrow as pa
import pytest
from kernel_choice import under_kernel

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string())])
OSLO = [("city", "==", "Oslo")]


def counted_csv(**options):
    return fm.Csv(SCHEMA, unmatched="counted", **options)


def test_a_bad_record_without_the_needle_is_counted_and_not_told():
    stream = fm.Stream(counted_csv(), filters=OSLO, on_error="collect")
    stream.push(b"1,Oslo\nx,Rome\n\n2\n", sequence=1)
    stream.push(b"3,Oslo,more\ny,Oslo\n4,Lima", sequence=2)
    stream.finish()
    rejects = stream.rejects()
    assert rejects.column("record").to_pylist() == [3, 4]
    assert rejects.column("code").to_pylist() == ["too_many_fields", "invalid"]
    assert stream.stats.records == 6


def test_the_first_record_behind_a_header_is_no_more_looked_at_than_others():
    data = b"\xef\xbb\xbfcity,id\nRome,x,y\nOslo,1\n"
    assert fm.read(data, counted_csv(header=True), filters=OSLO).to_pylist() == [{"id": 1, "city": "Oslo"}]
    stream = fm.Stream(counted_csv(header=True), filters=OSLO)
    batches = [b for i in range(len(data)) for b in stream.push(data[i : i + 1], sequence=i + 1)] + stream.finish()
    assert [row for b in batches for row in b.data.to_pylist()] == [{"id": 1, "city": "Oslo"}]


def test_a_header_that_lacks_a_column_is_told_whatever_is_in_the_records():
    with pytest.raises(fm.SchemaError, match="city"):
        fm.read(b"id,town\n1,Rome\n", counted_csv(header=True), filters=OSLO)


@pytest.mark.parametrize("on_error", ["raise", "null", "skip", "collect"])
def test_errors_are_those_of_records_that_hold_the_needle(on_error):
    data = b"x,Rome\n1,Oslo\n" * 3
    assert fm.read(data, counted_csv(), filters=OSLO, on_error=on_error).num_rows == 3
    worse = data + b"Oslo,Oslo\n"
    if on_error == "raise":
        with pytest.raises(fm.FormatError) as raised:
            fm.read(worse, counted_csv(), filters=OSLO)
        assert (raised.value.record, raised.value.byte_offset) == (6, len(data))
    else:
        with pytest.warns(fm.RejectsWarning):
            table = fm.read(worse, counted_csv(), filters=OSLO, on_error=on_error)
        assert table.num_rows == (4 if on_error == "null" else 3)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_digits_in_front_of_a_number_or_behind_it_make_it_another(kind):
    schema = pa.schema([("id", pa.int64()), ("n", pa.int64())])
    chosen = {"csv": fm.Csv, "json": fm.Json}[kind](schema, unmatched="counted")
    line, more = {"csv": ("%s,%s", ",more"), "json": ('{"id":%s,"n":%s}', "x")}[kind]
    numbers = [(5, 17), (5, 97), (5, 70), (15, 7), (50, 7), (5, 7), (-5, -7), (105, 7), (25, 27)]
    damaged = "".join(line % pair + more + "\n" for pair in numbers)
    for filters, found in (([("n", "==", 7)], [3, 4, 5, 6, 7]), ([("n", "==", 7), ("id", "==", 5)], [5, 6, 7])):
        rejects: list[pa.Table] = []
        data = (damaged + line % (5, 7) + "\n").encode()
        table = fm.read(data, chosen, filters=filters, on_error="collect", rejects=rejects, threads=1)
        assert table["id"].to_pylist() == [5]
        # A sign or a zero may stand in front of one; at records that hold no such number by itself nobody looks.
        assert rejects[0]["record"].to_pylist() == found


def test_a_share_of_bad_records_is_one_of_all_records():
    data = b"x,Rome\n" * 98 + b"1,Oslo\ny,Oslo\n"
    assert fm.read(data, counted_csv(), filters=OSLO, on_error="skip", max_errors=0.01).num_rows == 1
    with pytest.raises(fm.TooManyErrors):
        fm.read(data, counted_csv(), filters=OSLO, on_error="skip", max_errors=0.009)


def test_an_empty_list_of_values_counts_all_records():
    stream = fm.Stream(counted_csv(), filters=[("city", "in", [])])
    batches = stream.push(b"bad\n1,Oslo\n", sequence=1) + stream.finish()
    assert sum(batch.data.num_rows for batch in batches) == 0
    assert stream.stats.records == 2


@pytest.mark.parametrize("option", [
    {"escape": "\\"}, {"comment": "#"}, {"quotes": "lenient"}, {"max_quoted_lines": 3}, {"delimiter": "||"},
    {"encoding": "latin-1"}, {"record_delimiter": "\r\n"}, {"repeated_headers": True, "header": True},
])  # fmt: skip
def test_csv_whose_records_do_not_end_by_their_bytes_alone_refuses(option):
    with pytest.raises(fm.OptionError, match=f"unmatched.*{next(iter(option))}"):
        counted_csv(**option)


def test_other_formats_than_lines_refuse():
    with pytest.raises(fm.OptionError, match="lines"):
        fm.Json(SCHEMA, unmatched="counted", records="array")
    with pytest.raises(fm.OptionError, match="lines"):
        fm.Framed(fm.Json(SCHEMA, unmatched="counted"))
    for make in (fm.Csv, fm.Json):
        with pytest.raises(fm.OptionError, match=re.escape("expected 'checked' or 'counted'")):
            make(SCHEMA, unmatched="ignored")


def test_separators_that_are_digits_hide_no_number():
    schema = pa.schema([("city", pa.string()), ("id", pa.int64())])
    format = fm.Csv(schema, delimiter="5", unmatched="counted")
    assert fm.read(b"Oslo57\nRome58\n", format, filters=[("id", "==", 7)]).column("city").to_pylist() == ["Oslo"]


def test_each_clause_needs_a_needle_and_a_number_stands_alone():
    both = [("id", "==", 7), *OSLO]
    rejects: list[pa.Table] = []
    data = b"zz17,Oslo\nzz70,Oslo\nzz,Oslo\nzz7,Rome\n007,Oslo\nzz07,Oslo\n"
    table = fm.read(data, counted_csv(), filters=both, on_error="collect", rejects=rejects)
    assert table.num_rows == 1
    assert rejects[0].column("record").to_pylist() == [5]


def test_what_several_values_begin_with_is_no_needle_by_itself():
    data = b"1,Rome\n" * 3000 + b"2,Oslo-1\nx,Oslo-9\n3,Oslo-3\ny,Oslo-2\n" + b"4,Lima\n" * 3000
    rejects: list[pa.Table] = []
    wanted = [("city", "in", [f"Oslo-{i}" for i in range(1, 5)])]
    table = fm.read(data, counted_csv(), filters=wanted, on_error="collect", rejects=rejects)
    assert table.column("id").to_pylist() == [2, 3]
    assert rejects[0].column("record").to_pylist() == [3003]


def test_text_that_is_repaired_has_only_ascii_needles():
    data = "1,Bé\n".encode("latin-1") + "2,Bé\n".encode()
    repaired = counted_csv(errors="latin-1")
    assert fm.read(data, repaired, filters=[("city", "==", "Bé")]).column("id").to_pylist() == [1, 2]


def test_text_of_any_json_value_is_found_without_quotes():
    schema = pa.schema([pa.field("t", pa.string(), metadata={b"text": b"any"})])
    data = b'{"t":12}\n{"t":"12"}\n{"t":[1, 2]}\n{"t":"\\u0031\\u0032"}\n{"t":120}\n{"t":["x"]}\n'
    format = fm.Json(schema, unmatched="counted")
    assert fm.read(data, format, filters=[("t", "==", "12")]).num_rows == 3
    assert fm.read(data, format, filters=[("t", "==", "[1, 2]")]).num_rows == 1
    assert fm.read(data, format, filters=[("t", "==", '["x"]')]).num_rows == 1


@pytest.mark.parametrize("kind", ["csv", "quoted", "json"])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_long_inputs_have_the_same_rows_by_threads_windows_and_kernels(kind, share):
    """Longer than what is looked at at once: samples, windows of 65,536 records, ranges, batches."""
    chance = random.Random(7)
    records = []
    for i in range(150_000):
        city = "Oslo" if chance.random() < share else chance.choice(["Rome", "Lima", "Os", "slo", "a,b"])
        text = f'"{city}"' if kind != "csv" else city.replace(",", ";")
        blank = chance.random() < 0.01
        records.append("" if blank else f'{{"id":{i},"city":{text}}}' if kind == "json" else f"{i},{text}")
    data = ("\n".join(records) + "\n").encode()
    make = fm.Json if kind == "json" else fm.Csv
    clauses = [[("city", "==", "Oslo"), ("id", "in", [*range(12), 149_999])], OSLO]
    for filters in (OSLO, clauses, [("city", "contains", "slo"), ("city", "starts_with", "O")]):
        expected = fm.read(data, make(SCHEMA), filters=filters)
        for kernel in fm.kernels():
            with under_kernel(kernel):
                assert fm.read(data, make(SCHEMA, unmatched="counted"), filters=filters, threads=1) == expected
        counted = make(SCHEMA, unmatched="counted")
        assert fm.read(data, counted, filters=filters, threads=3) == expected
        assert fm.open(data, counted, filters=filters, threads=2).read_all() == expected
        stream = fm.Stream(counted, filters=filters, ordered=True)
        batches = []
        for i, begin in enumerate(range(0, len(data), 100_000)):
            batches += stream.push(data[begin : begin + 100_000], sequence=i + 1)
        batches += stream.finish()
        assert pa.Table.from_batches([b.data for b in batches], SCHEMA).combine_chunks() == expected.combine_chunks()
        assert stream.stats.records == sum(map(bool, records))


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("piece", [None, 1_000, 50_000])
def test_bad_records_among_many_that_hold_the_needle_keep_their_places(kind, piece):
    """They are copied together before they are read, short ones: more than one copy takes, and long ones between them."""
    chance = random.Random(5)
    records = []
    for i in range(40_000):
        is_long = i % 400 == 0
        city = "Oslo" if is_long or chance.random() < 0.3 else "Rome"
        city += "y" * (9_000 if is_long else chance.choice([0, 3, 40]))
        number = "bad" if chance.random() < 0.02 else str(i)
        if kind == "csv":
            records.append(f"{number},{city}" + ",more" * (chance.random() < 0.01))
        else:
            records.append(f'{{"id":{number},"city":"{city}"' + "}" * (chance.random() < 0.99))
    lines = [(record + "\n").encode() for record in records]
    filters = [("city", "starts_with", "Oslo")]
    make = fm.Json if kind == "json" else fm.Csv

    def rows_and_rejects(**options):
        stream = fm.Stream(make(SCHEMA, **options), filters=filters, on_error="collect", ordered=True)
        data = b"".join(lines)
        size = piece or len(data)
        batches = []
        for i, begin in enumerate(range(0, len(data), size)):
            batches += stream.push(data[begin : begin + size], sequence=i + 1)
        batches += stream.finish()
        return [row for b in batches for row in b.data.to_pylist()], stream.rejects().to_pylist()

    rows, rejects = rows_and_rejects()
    looked_at = [reject for reject in rejects if b"Oslo" in lines[reject["record"]]]
    assert len(looked_at) > 200
    assert rows_and_rejects(unmatched="counted") == (rows, looked_at)


def test_records_longer_than_a_window_are_found():
    long = "y" * 200_000
    data = f"1,{long}\n2,Oslo{long}\n3,Oslo\n4,{long}Oslo\n".encode() * 2
    table = fm.read(data, counted_csv(), filters=[("city", "contains", "Oslo")], columns=["id"])
    assert table.column("id").to_pylist() == [2, 3, 4, 2, 3, 4]


@pytest.mark.parametrize("share", [0.0, 0.002])
@pytest.mark.parametrize("quoted", [0.003, 0.1, 0.9])
def test_line_ends_in_quotes_end_no_record_wherever_quotes_lie(quoted, share):
    """In some stretches every block has quotes, in others none has, and a quoted field may be longer than a stretch."""
    chance = random.Random(11)
    records = []
    for i in range(6_000):
        city = (
            "Oslo" if chance.random() < share else chance.choice(["Rome", "Lima", "Os\nlo", "\n\n", '""', "x\n" * 300])
        )
        records.append(f'{i},"{city}"' if chance.random() < quoted else f"{i},{'Rome' if city != 'Oslo' else city}")
    data = ("\n".join(records) + "\n").encode()
    expected = fm.read(data, fm.Csv(SCHEMA), filters=OSLO)
    for kernel in fm.kernels():
        with under_kernel(kernel):
            stream = fm.Stream(counted_csv(), filters=OSLO)
            batches = stream.push(data, sequence=1) + stream.finish()
            assert pa.Table.from_batches([b.data for b in batches], SCHEMA) == expected
            assert stream.stats.records == len(records)

"""Which quotes are quotes, and what one costs that is never closed.

In: small texts whose reading is plain to see, and random ones that Python's csv module reads, too. Out: the same rows.
"""

import pyarrow as pa
import pytest
from lenient_soup import compare

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])


def read(data, on_error="collect", **options):
    rejects = []
    table = fm.read(data, fm.Csv(SCHEMA, **options), on_error=on_error, rejects=rejects)
    found = [(r["byte_offset"], r["code"], r["raw"]) for part in rejects for r in part.to_pylist()]
    return [tuple(row.values()) for row in table.to_pylist()], found


def test_an_open_quote_costs_its_line_and_is_named(kernel):
    data = b'1,x\n2,"y\n' + b"3,z\n" * 1000
    for threads in (1, 2):
        rejects = []
        format = fm.Csv(SCHEMA)
        assert fm.read(data, format, on_error="skip", threads=threads).num_rows == 1001
        table = fm.read(data, format, on_error="collect", rejects=rejects, threads=threads)
        (found,) = rejects[0].to_pylist()
        assert table.num_rows == 1001
        assert (found["record"], found["byte_offset"], found["raw"]) == (1, 4, b'2,"y')
        assert "the quote opened at byte 6" in found["message"]
    with pytest.raises(fm.FormatError, match="the quote opened at byte 6"):
        fm.read(data, fm.Csv(SCHEMA))


@pytest.mark.parametrize("rule", ["strict", "lenient", "sticky"])
@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_an_open_quote_costs_a_stream_its_line_too(rule, size):
    data = b'1,x\n2,"y\n' + b"3,z\n" * 300
    buffers = [data[i : i + size] for i in range(0, len(data), size)]
    for order in (1, -1):
        stream = fm.Stream(fm.Csv(SCHEMA, quotes=rule), on_error="collect", batch=fm.BatchPolicy(max_rows=64))
        batches = []
        for i in range(len(buffers))[::order]:
            batches += stream.push(buffers[i], sequence=i + 1)
        batches += stream.finish(last_sequence=len(buffers))
        assert sum(batch.num_rows for batch in batches) == 301
        (found,) = stream.rejects().to_pylist()
        assert (found["record"], found["byte_offset"], found["raw"]) == (1, 4, b'2,"y')


@pytest.mark.parametrize("rule", ["strict", "lenient", "sticky"])
def test_the_line_is_that_of_the_quote_and_not_of_the_record(rule):
    found = read(b'1,"p\nq","z\n4,v\n5,w\n', quotes=rule)
    assert found == ([(4, "v"), (5, "w")], [(0, "unterminated_quote", b'1,"p\nq","z')])


@pytest.mark.parametrize(
    ("options", "rows", "bad"),
    [
        ({"max_quoted_lines": 2}, [(1, "a\nb"), (3, "e")], [b'2,"c', b"d", b'f"']),
        ({"max_quoted_bytes": 3}, [(1, "a\nb"), (3, "e")], [b'2,"c', b"d", b'f"']),
        ({"max_quoted_bytes": 5}, [(1, "a\nb"), (2, "c\nd\nf"), (3, "e")], []),
    ],
)
@pytest.mark.parametrize("rule", ["strict", "lenient", "sticky"])
def test_bounds_end_a_quoted_field_that_goes_on_too_long(kernel, rule, options, rows, bad):
    data = b'1,"a\nb"\n2,"c\nd\nf"\n3,e\n'
    expected = rows if rule != "strict" or not bad else None
    got, found = read(data, quotes=rule, **options)
    assert [raw for _, _, raw in found][:1] == bad[:1]
    if expected is not None:
        assert got == expected
        assert [raw for _, _, raw in found] == bad


def test_many_open_quotes_take_no_longer_than_their_bounds():
    data = b'1,"x\n' * 100_000
    rows, found = read(data, quotes="sticky", max_quoted_lines=5)
    assert (len(rows), len(found)) == (0, 100_000)


@pytest.mark.parametrize(
    ("rule", "text", "value"),
    [
        ("lenient", b'"a"b', "ab"), ("lenient", b'a"b', 'a"b'), ("lenient", b'"a"b"c', 'ab"c'), ("lenient", b'""x', "x"),
        ("lenient", b'"a""b"', 'a"b'), ("lenient", b'""""', '"'), ("lenient", b' "a"', ' "a"'), ("lenient", b'"a"\r', "a"),
        ("sticky", b'"a"b"', 'a"b'), ("sticky", b'"a" b"', 'a" b'), ("sticky", b'a"b"', 'a"b"'), ("sticky", b'"a""b"', 'a"b'),
        ("sticky", b'"a"\r', "a"),
    ],
)  # fmt: skip
def test_what_a_field_reads_as(kernel, rule, text, value):
    # among others of every length, so that every way of copying is taken
    for around in (0, 1, 70):
        data = b"".join(b'%d,"%s"\n' % (i, b"q" * i) for i in range(around)) + b"7," + text + b"\n" + b"8,x\n" * around
        rows, found = read(data, quotes=rule)
        assert found == []
        assert rows[around] == (7, value)
        assert rows == [*((i, "q" * i) for i in range(around)), (7, value), *[(8, "x")] * around]


def test_blanks_around_quotes_do_not_count_where_they_are_trimmed():
    rows, found = read(b'1, "a,b" \n2,"c" d\n3,\t"e""f"\t\n', quotes="lenient", trim=True)
    assert (rows, found) == ([(1, "a,b"), (2, "c d"), (3, 'e"f')], [])
    rows, found = read(b'1, "a" b" \n2,"c"\t \n', quotes="sticky", trim=True)
    assert (rows, found) == ([(1, 'a" b'), (2, "c")], [])


@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.binary(), pa.string_view()])
def test_where_quotes_say_nothing_null_tokens_are_null_in_them_too(kernel, kind, trim):
    schema = pa.schema([("a", pa.int64()), ("b", kind)])
    data = b'"1","x"\n"NA","NA"\n"3",""\n"4","N""A"\n"5","NA"\n'
    found = {}
    for quoted_nulls in (False, True, "everywhere"):
        format = fm.Csv(schema, nulls=("", "NA"), quoted_nulls=quoted_nulls, trim=trim)
        table = fm.read(data, format, on_error="null")
        cast = table.column("b").combine_chunks().cast(pa.string()).to_pylist()
        found[quoted_nulls] = table.column("a").to_pylist(), cast
        if kind != pa.binary():
            nulls = fm.read(data, format, filters=[("b", "is_null", None)], on_error="null")
            assert nulls.num_rows == cast.count(None)
    assert found[True] == found[False] == ([1, None, 3, 4, 5], ["x", "NA", "", 'N"A', "NA"])
    assert found["everywhere"] == ([1, None, 3, 4, 5], ["x", None, None, 'N"A', None])
    required = pa.schema([schema.field(0), schema.field(1).with_nullable(False)])
    rejects = []
    format = fm.Csv(required, nulls=("NA",), quoted_nulls="everywhere", trim=trim)
    assert fm.read(data, format, on_error="collect", rejects=rejects).num_rows == 3
    assert rejects[0].column("code").to_pylist() == ["missing_required"] * 2


def test_without_newlines_in_quotes_a_line_is_a_record(kernel):
    data = b'1,"a\n2,b\n3,"c,d"\n4,"e,f\n' * 50
    assert read(data, quotes="lenient", newlines_in_quotes=False) == (
        [(1, "a"), (2, "b"), (3, "c,d"), (4, "e,f")] * 50, [],
    )  # fmt: skip
    rows, found = read(data, newlines_in_quotes=False)
    assert rows == [(2, "b"), (3, "c,d")] * 50
    assert [raw for _, _, raw in found] == [b'1,"a', b'4,"e,f'] * 50
    assert {code for _, code, _ in found} == {"stray_quote"}


def test_a_filter_sees_the_text_that_the_rule_reads(kernel):
    data = b'1,"a"b\n2,ab\n3,a"b\n' * 100
    format = fm.Csv(SCHEMA, quotes="lenient")
    assert fm.read(data, format, filters=[("b", "==", "ab")])["a"].to_pylist() == [1, 2] * 100
    coded = pa.schema([("a", pa.int64()), ("b", pa.dictionary(pa.int32(), pa.string()))])
    table = fm.read(data, fm.Csv(coded, quotes="lenient"))
    assert table["b"].to_pylist() == ["ab", "ab", 'a"b'] * 100


def test_lenient_quotes_are_those_of_python(kernel):
    for seed in range(4):
        assert compare(1500, seed, threads=1 + seed % 2) is None
        assert compare(1500, seed, spaced=True, threads=1 + seed % 2) is None


@pytest.mark.parametrize("trim", ["left", "right", True])
def test_a_blank_behind_a_closing_quote_begins_no_field(kernel, trim):
    data = b'1,"a" "b\n2,c"d\n'
    assert read(data, quotes="lenient", trim=trim) == ([(1, 'a "b'), (2, 'c"d')], [])
    closed = b'1,"a" "b\n2,c"\n'
    assert read(closed, quotes="sticky", trim="left") == ([(1, 'a" "b\n2,c')], [])


def test_values_by_themselves_follow_the_rule():
    values = pa.array(['1,"a"b', '2,c"d', '3,"e', "4,f"])
    batch = fm.parse_records(values, fm.Csv(SCHEMA, quotes="lenient"))
    assert batch["b"].to_pylist() == ["ab", 'c"d', None, "f"]


@pytest.mark.parametrize(
    "options", [{"quotes": "loose"}, {"newlines_in_quotes": 1}, {"max_quoted_lines": 0}, {"max_quoted_bytes": True}]
)
def test_options_of_no_sense_are_refused(options):
    with pytest.raises(fm.OptionError):
        fm.Csv(SCHEMA, **options)

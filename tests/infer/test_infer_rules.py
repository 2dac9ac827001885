"""fm.infer of CSV, rule by rule: what a sample is taken for, and that nothing doubtful is silent. What it decides is looked at by
fm.explain, which says it option by option.
"""

from __future__ import annotations

import datetime
import warnings
from dataclasses import replace

import pytest

import formatter as fm


def explained(data):
    """(types by name, options by name, the doubts as one text)"""
    found = fm.explain(data.encode() if isinstance(data, str) else data)
    plain = (d if not isinstance(d.value, bytes) else replace(d, value=d.value.decode()) for d in found.decisions)
    options = {decision.option: decision.value for decision in plain}
    return {c.name: str(c.type) for c in found.columns}, options, " ".join(found.doubts)


def types_of(values, delimiter=";"):
    return explained(f"id{delimiter}v\n" + "".join(f"{i}{delimiter}{v}\n" for i, v in enumerate(values)))


# Headers


@pytest.mark.parametrize("data", ["1,2\n3,4.5\n5,6.5\n", "2024-01-01,x\n2024-01-02 10:00:00,y\n2024-01-03,z\n"])
def test_a_narrower_type_in_the_first_record_is_no_header(data):
    types, options, doubts = explained(data)
    assert options["header"] is False
    assert list(types.values())[0 if "-" in data else 1] in ("double", "timestamp[us]")
    assert not doubts


@pytest.mark.parametrize("title", ["Report of X", "Report, by quarter, of all", "Made by a program\n\nfor nobody"])
def test_a_header_is_found_below_a_preamble_and_the_lines_before_it_are_told(title):
    types, options, doubts = explained(f"{title}\nid,name,first day\n1,a,2024-01-01\n2,b,2024-01-02\n3,c,2024-01-03\n")
    assert list(types) == ["id", "name", "first day"]
    assert options["skip_lines"] == title.count("\n") + 1
    assert "before the header" in doubts


def test_a_title_with_a_comma_is_no_header_of_texts_that_have_commas_in_quotes():
    rows = 'Q4,Minister\nQ5,"Minister of Education, Culture"\nQ6,"Minister of Trade, Sports"\n'
    types, options, doubts = explained(f"Report of measurements, second quarter\nposition,title\n{rows}")
    assert list(types) == ["position", "title"]
    assert options["skip_lines"] == 1
    assert "before the header" in doubts


@pytest.mark.parametrize("data", ["Order Number,Ship To City,Total Cost\n1,Rome,2.5\n2,Paris,3.5\n",
                                  "Customer Name,Ship To City\nAnna,Rome\nBob,Paris\nCarl,Oslo\n"])  # fmt: skip
def test_a_header_may_have_words_with_spaces(data):
    types, options, _ = explained(data)
    assert options["header"] is True
    assert ",".join(types) == data.partition("\n")[0]


@pytest.mark.parametrize("mark", ["#", "# "])
def test_a_header_behind_a_comment_mark_names_the_columns_it_fits(mark):
    types, options, doubts = explained(f"{mark}id,name,x\n1,a,2.5\n2,b,3.5\n")
    assert types == {"id": "int64", "name": "string", "x": "double"}
    assert options["comment"] == "#"
    assert "the columns are named by" in doubts


def test_a_column_named_by_a_comment_mark_alone_stays_in_the_header():
    types, options, _ = explained("#,who,count\n1,a,5\n2,b,6\n3,c,7\n")
    assert list(types) == ["#", "who", "count"]
    assert "comment" not in options


def test_two_lines_that_name_the_columns_together_are_joined():
    types, options, doubts = explained("Year,,Sales,\n,Month,Units,Value\n2024,1,5,2.5\n2024,2,6,3.5\n")
    assert list(types) == ["Year", "Month", "Sales Units", "Value"]
    assert options["header"] == (0, 1)
    assert "joined" in doubts


def test_years_in_a_header_name_columns():
    types, _, doubts = explained("city,2019,2020,2021\nRome,5,6,7\nOslo,8,9,10\nBonn,1,2,3\n")
    assert list(types) == ["city", "2019", "2020", "2021"]
    assert "count up" in doubts


@pytest.mark.parametrize(
    ("header", "below"),
    [
        ("state,2021", "Utah,-29.5\nOhio,3.5\nIowa,4.25\n"),  # no whole number below
        ("Forest land (ha),2005", "Angola,10\nBenin,2004\n" + "".join(f"C{i},{i}\n" for i in range(20))),  # one year below
        ("Reported,2005", "".join(f"{name},7\n" for name in "ABCDEFGHI")),  # what stands below is sorted
        ("place,1990,2000,2005", "Rome,5,6,7\nOslo,8,9,10\nBonn,1,2,3\n"),  # in no even steps
        (",1990,2000,2010", "Rome,1990,2000,2010\nOslo,1990,1990,1990\nBonn,1991,2001,2011\n"),  # a corner
        ("cases," + ",".join(map(str, range(1990, 2000))), "Rome,1999,1998,7,5,5,4,3,2000,1,1\nOslo" + ",1950" * 10 + "\n"),
        ("age,0,5,10,15,20,25", "Rome,9,7,5,1,0,0\nOslo,3,4,3,3,5,4\n"),
    ],
)  # fmt: skip
def test_numbers_unlike_those_below_name_columns(header, below):
    types, options, doubts = explained(f"{header}\n{below}")
    assert (list(types), options["header"]) == (header.split(","), True)
    assert "count up" in doubts or "is a year" in doubts


def test_numbers_in_quotes_above_numbers_without_name_columns():
    types, options, doubts = explained('"","16.5","16.75","17.25"\n"71",0,0,1\n"70",3,4,2\n"69",1,5,0\n')
    assert (list(types), options["header"], doubts) == (["", "16.5", "16.75", "17.25"], True, "")
    assert set(types.values()) == {"int64"}


@pytest.mark.parametrize(
    "data", ["Ohio,2000\nUtah,3500\nIowa,7000\nMaine,3\n", "US,1990,2000\nFR,5,9\nDE,1995,3\nIT,1,2\n"]
)
def test_a_first_record_whose_numbers_may_be_years_is_told(data):
    _, options, doubts = explained(data)
    assert options["header"] is False
    assert "may be years that name columns: taken as data" in doubts


@pytest.mark.parametrize(
    "data", ["US,1,3,7\nFR,2,5,9\nDE,1,2,3\n", "US,10,20,30\nFR,2,5,9\nDE,1,2,9\n", "a,1\nb,2\nc,3\n"]
)
def test_numbers_that_go_up_as_those_below_do_are_data(data):
    _, options, doubts = explained(data)
    assert (options["header"], doubts) == (False, "")


def test_a_first_column_that_tells_rows_apart_needs_no_name():
    types, _, doubts = explained("carat,depth,cut\n1,0.3,61.5,Fair\n4,0.5,60.1,Good\n9,0.7,59.0,Fair\n")
    assert list(types) == ["", "carat", "depth", "cut"]
    assert "3 names for 4 columns" in doubts


@pytest.mark.parametrize("first", ["0,1", "2001,2002", "1,2,3,4,5,6"])
def test_a_first_record_of_numbers_that_may_be_names_is_told(first):
    _, options, doubts = explained(first + "\n" + 3 * (first.replace("0", "7") + "\n"))
    assert options["header"] is False
    assert "count up: taken as data" in doubts


@pytest.mark.parametrize("data", ["", "\n\n", "\r\n", " \n"])
def test_an_empty_input_has_an_empty_schema(data):
    assert explained(data)[0] == {}


# Separators, comments, quotes


def test_comments_are_removed_before_delimiters_are_scored():
    types, options, _ = explained("# a;b;c;d\n# x;y;z;w\nid,v\n1,2\n3,4\n")
    assert (types, options["delimiter"], options["comment"]) == ({"id": "int64", "v": "int64"}, ",", "#")


@pytest.mark.parametrize("data", ["2020-12-30 01:25:58\n2020-12-30 01:26:58\n2020-12-30 01:27:58\n",
                                  "01:25:58\n01:26:58\n01:27:58\n"])  # fmt: skip
def test_a_colon_does_not_cut_times(data):
    types, _, _ = explained(data)
    assert list(types.values()) in (["timestamp[us]"], ["time32[s]"])


@pytest.mark.parametrize("delimiter", ["||", "::", "~|~", "<>"])
def test_delimiters_of_several_bytes_are_found(delimiter):
    data = "".join(delimiter.join(row) + "\n" for row in [("a", "b", "c"), ("1", "x", "2"), ("4", "y", "5")])
    assert explained(data)[0] == {"a": "int64", "b": "string", "c": "int64"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_records_end_with_any_line_end_and_the_last_one_without(end, last):
    data = end.join(["id,name", "1,a", "2,b", "3,c"]) + (end if last else "")
    types, options, doubts = explained(data)
    assert types == {"id": "int64", "name": "string"}
    assert options.get("record_delimiter", "\n") == ("\r" if end == "\r" else "\n")
    assert not doubts


def test_apostrophes_are_quotes_where_fields_stand_in_them():
    types, options, doubts = explained("id,name\n1,'a,b'\n2,'c'\n3,'d, e'\n")
    assert types == {"id": "int64", "name": "string"}
    assert options["quote"] == "'"
    assert not doubts


def test_an_escape_is_found_before_quotes_in_quotes():
    types, options, _ = explained('id,name\n1,"a \\"b\\" c, d"\n2,"e"\n3,"f \\" g"\n')
    assert options["escape"] == "\\"
    assert types == {"id": "int64", "name": "string"}


def test_quotes_that_quote_no_field_are_text():
    _, options, doubts = explained('id,name\n1,5" pipe\n2,6" pipe\n')
    assert options["quote"] is None
    assert "quote=None" in doubts


def test_a_stray_quote_among_quoted_fields_asks_for_lenient_quotes_and_is_told():
    rows = [f'{i},"n {i}"\n' for i in range(40)]
    rows[20] = '20,"open\n'
    _, _, doubts = explained("id,name\n" + "".join(rows))
    assert "quotes='lenient'" in doubts
    assert "byte" in doubts


@pytest.mark.parametrize("bad", [7, 29])
def test_a_quote_that_is_never_closed_costs_no_record_where_fields_have_one_line(bad):
    rows = [f'{i},"n {i}"\n' for i in range(30)]
    rows[bad] = f'{bad},"open\n'
    data = ("id,name\n" + "".join(rows)).encode()
    with pytest.warns(fm.InferenceWarning, match="quotes='lenient'"):
        format = fm.infer(data)
    read = fm.read(data, format)
    assert read["id"].to_pylist() == list(range(30))
    assert read["name"][bad].as_py() == "open"


def test_the_first_of_several_tables_has_its_width_and_the_rest_is_told():
    rows = "".join(f"{i},{i},{i}\n" for i in range(9))
    types, options, doubts = explained(f"a,b,c\n{rows}\nx,y\n1,2\n3,4\n")
    assert list(types) == ["a", "b", "c"]
    assert options["skip_footer"] == 3
    assert "none of it" in doubts


def test_headers_of_files_put_behind_each_other_are_told():
    _, options, doubts = explained("a,b\n1,2\n3,4\na,b\n5,6\n7,8\n")
    assert options["repeated_headers"] is True
    assert "repeat the header" in doubts


# Encodings


def test_one_bad_byte_does_not_make_a_file_latin_1():
    data = b"id,name\n" + "1,caf\u00e9\n2,na\u00efve\n".encode() + b"3,b\xe9\n" + "4,\u00fc\n".encode()
    _, options, doubts = explained(data)
    assert options["errors"] == "latin-1"
    assert "though the rest is" in doubts


def test_bytes_that_are_never_utf_8_are_a_code_page():
    _, options, doubts = explained("id,name\n1,caf\u00e9\n2,na\u00efve\n3,\u20ac 5\n4,\u201cx\u201d\n".encode("cp1252"))
    assert options["encoding"] == "cp1252"
    assert "is no UTF-8" in doubts


# Values


DATES = {
    "12/31/2024": "%m/%d/%Y", "31/12/2024": "%d/%m/%Y", "31.12.2024": "%d.%m.%Y", "Dec 31 2024": "%b %d %Y",
    "31-Dec-2024": "%d-%b-%Y", "31 December 2024": "%d %B %Y", "2024/12/31": "%Y/%m/%d", "31/12/24": "%d/%m/%y",
}  # fmt: skip


@pytest.mark.parametrize(("value", "pattern"), DATES.items())
def test_dates_as_people_write_them_are_dates(value, pattern):
    types, options, doubts = types_of([value, value])
    assert types["v"] == "date32[day]"
    assert options["timestamp_formats"] == (pattern,)
    assert not doubts


@pytest.mark.parametrize("value", ["Dec 31 2024 5:01PM", "12/31/2024 05:01:02 PM", "31.12.2024 17:01"])
def test_dates_with_times_as_people_write_them_are_timestamps(value):
    assert types_of([value, value])[0]["v"] == "timestamp[us]"


@pytest.mark.parametrize(
    "pattern", ["%a %d %b %Y", "%A, %d %B %Y", "%a, %d %b %Y %H:%M:%S GMT", "%A %b %d %Y %I:%M %p"]
)
def test_a_date_behind_its_weekday_is_read_by_the_pattern_that_is_proposed(pattern):
    days = [datetime.datetime(2024, 2, 26 + day, 15, 30, tzinfo=datetime.UTC) for day in range(4)]
    days += [datetime.datetime(2024, 3, day, 15, 30, tzinfo=datetime.UTC) for day in range(1, 4)]
    data = "\n".join(["when\tid", *(f"{day.strftime(pattern)}\t1" for day in days), ""]).encode()
    format = fm.infer(data, "csv")
    assert format.timestamp_formats == (pattern,)
    read = fm.read(data, format)["when"].to_pylist()
    if "%M" in pattern:
        assert [each.replace(tzinfo=datetime.UTC) for each in read] == days
    else:
        assert read == [day.date() for day in days]


def test_month_or_day_first_is_decided_by_a_value_that_can_be_one_only():
    assert types_of(["01/02/2024", "01/13/2024"])[1]["timestamp_formats"] == ("%m/%d/%Y",)
    assert types_of(["01/02/2024", "13/01/2024"])[1]["timestamp_formats"] == ("%d/%m/%Y",)


def test_the_order_of_one_column_decides_for_the_others():
    _, options, doubts = explained("a;b\n01/02/2024;02/13/2024\n03/04/2024;01/01/2024\n")
    assert options["timestamp_formats"] == ("%m/%d/%Y",)
    assert not doubts


def test_dates_that_fit_both_orders_are_told():
    types, _, doubts = types_of(["01/02/2024", "03/04/2024"])
    assert types["v"] == "date32[day]"
    assert "month or the day first" in doubts


@pytest.mark.parametrize("written", ["01/02/2024", "'01/02/2024'", '"01/02/2024"', " '01/02/2024'", ' "01/02/2024"'])
def test_a_warning_quotes_a_value_without_the_quotes_it_stands_in(written):
    assert "dates like '01/02/2024' may" in types_of([written, written])[2]


def test_dates_that_fit_no_order_together_are_text():
    types, _, doubts = types_of(["13/02/2024", "03/14/2024"])
    assert types["v"] == "string"
    assert "taken as string" in doubts


@pytest.mark.parametrize(("values", "kind"), [(["10:20", "11:21:22"], "time32[s]"), (["10:20:30.5"], "time64[us]"),
                                              (["5:01 PM", "11:21 AM"], "time32[s]")])  # fmt: skip
def test_times_of_day_are_times(values, kind):
    assert types_of(values * 2)[0]["v"] == kind


def test_a_decimal_comma_is_told_from_thousands():
    assert types_of(["2,5", "3,75"])[1]["decimal"] == ","
    for values in (["123,000", "1,500"], ["1,234,567.5", "1,500"]):
        types, _, doubts = types_of(values)
        assert types["v"] == "string"
        assert "thousands" in doubts
    types, _, doubts = explained("id;v;w\n1;123,000;2,5\n2;1,500;3,75\n")
    assert types == {"id": "int64", "v": "double", "w": "double"}
    assert "taken as decimals" in doubts


@pytest.mark.parametrize("values", [["+318855443322", "+318855443323"], ["00501", "12345"]])
def test_telephone_numbers_and_zip_codes_stay_text_and_that_is_told(values):
    types, _, doubts = types_of(values)
    assert types["v"] == "string"
    assert "taken as string" in doubts


@pytest.mark.parametrize("marker", ["NA", "N/A", "NULL", "-", "***"])
def test_words_for_no_value_are_nulls_among_numbers_and_text_among_text(marker):
    types, options, doubts = types_of([marker, "1", "2"])
    assert (types["v"], options["nulls"], doubts) == ("int64", ("", marker), "")
    types, options, _ = types_of([marker, "x", "y"])
    assert types["v"] == "string"
    assert "nulls" not in options


def test_where_every_field_is_quoted_quotes_hide_no_null():
    rows = [("id", "v", "name"), ("1", "2.5", "x"), ("2", "NULL", "NULL"), ("3", "", ""), ("4", "7", "y")]
    bare = "".join(",".join(row) + "\n" for row in rows).encode()
    for quote in ('"', "'"):
        quoted = "".join(",".join(f"{quote}{v}{quote}" for v in row) + "\n" for row in rows).encode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fm.InferenceWarning)
            assert fm.read(quoted, fm.infer(quoted)).equals(fm.read(bare, fm.infer(bare)))
    partly = b'id,name\n1,"NULL"\n2,NULL\n3,""\n4,"x"\n'
    assert fm.infer(partly).quoted_nulls is False


def test_nan_is_a_number_among_decimals_and_null_among_integers():
    types, options, _ = types_of(["NaN", "1.5", "2"])
    assert (types["v"], "nulls" in options) == ("double", False)
    types, options, _ = types_of(["NaN", "1", "2"])
    assert (types["v"], options["nulls"]) == ("int64", ("", "NaN"))


def test_a_rare_delimiter_is_told_of():
    paths = "".join(f"benchmark/large/tpcds-sf100/q{i:02}.benchmark\n" for i in range(1, 100)).encode()
    with pytest.warns(fm.InferenceWarning, match="delimiter '/' is a rare one"):
        assert fm.infer(paths).delimiter == "/"


def test_a_first_record_that_speaks_for_both_readings_is_told_of():
    questions = [
        "Which of these did best, in your own words, and for what reason above all?",
        "",
        "",
        "Why is that?",
        "",
        "",
    ]
    answers = ["Open-Ended Response", "Yes", "No", "Open-Ended Response", "Yes", "No"]
    rows = [questions, answers, *(["x" * (i % 5 + 3), "", "No", "said", "Yes", ""] for i in range(4))]
    with pytest.warns(fm.InferenceWarning, match="3 of its fields are empty|4 of its fields are empty"):
        fm.infer("".join("\t".join(row) + "\n" for row in rows).encode())

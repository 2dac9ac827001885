"""Spark's reader options: the same name gives the same rows as spark.read, or is refused by name."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su
from spark_udfs.options.date_patterns import strptime_of

CSV = "a INT, b STRING, c DOUBLE, _corrupt_record STRING"
CORRUPT = "_corrupt_record STRING"
PLAIN = "a INT, b STRING, c DOUBLE"
SCHEMA = pa.schema([("a", pa.int32()), ("b", pa.string())])

AGREEING = {  # name: (schema, text, options), the same rows from both readers under every mode
    "bad fields": (CSV, "1,x,2.5\nz,y,1\n3,w,q\n", {}),
    "bad fields without a column for them": (PLAIN, "1,x,2.5\nz,y,1\n3,w,q\n", {}),
    "corrupt column in the middle": ("a INT, bad STRING, b STRING", "1,x\nz,y\n", {"columnNameOfCorruptRecord": "bad"}),
    "too few and too many fields": (CSV, "1,x\n2,y,3.0,4\n5,v,6\n", {}),
    "blank lines and empty fields": (CSV, "1,x,2\n\n,,\n5,v,6\n", {}),
    "null text": (CSV, '1,"",2\n2,,3\n4,NA,1\nNA,x,NA\n', {"nullValue": "NA"}),
    "doubled quotes": (CSV, '1,"a ""b"" c",2\n', {"escape": '"'}),
    "escaped quotes": (CSV, '1,"a\\"b",2\n2,"c\\\\d",3\n', {"escape": "\\"}),
    "no quotes": (CSV, '1,"x",2\n', {"quote": ""}),
    "other separator": (CSV, "1;x;2\n", {"delimiter": ";"}),
    "tab by its escape": (CSV, "1\tx\t2\n", {"sep": "\\t"}),
    "trimmed": (CSV, " 1 , x ,2 \n", {"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": "true"}),
    "trimmed in front": (
        CSV,
        ' 1 , x y ,2\n2,  "q,"\t,3\n3, , 4\n'.replace("\t", ""),
        {"ignoreLeadingWhiteSpace": True},
    ),
    "trimmed behind": (CSV, '1 , x y ,2 \n2,"q, " ,3\n3," ",4\n4, "q" x ,5\n', {"ignoreTrailingWhiteSpace": True}),
    "a header in other letters": (
        PLAIN,
        "A,B,C\n1,x,2\n",
        {"header": True, "enforceSchema": False},
    ),
    "infinities": (CSV, "2,y,Inf\n3,z,-Inf\n4,z,Infinity\n", {}),
    "booleans": ("a BOOLEAN, _corrupt_record STRING", "true\nFALSE\nTrue\n1\n", {}),
    "header": (PLAIN, "a,b,c\n1,x,2\n", {"header": True}),
    "header by position": (PLAIN, "q,r,s\n1,x,2\n", {"header": True, "enforceSchema": True}),
    "comments": (CSV, "#z\n1,x,2\n", {"comment": "#"}),
    "line breaks in quotes": (CSV, '1,"x\ny",2\n3,z,4\n', {"multiLine": True}),
    "dates": ("d DATE, _corrupt_record STRING", "31/12/2023\n45/01/2023\n", {"dateFormat": "dd/MM/yyyy"}),
    "times": ("t TIMESTAMP_NTZ", "2024-01-02 03:04:05.678\n2024-01-02T03:04:05\n", {}),
    "times with a pattern": ("t TIMESTAMP_NTZ", "02.01.2024 15:04\n", {"timestampNTZFormat": "dd.MM.yyyy HH:mm"}),
    "ints out of range": (CSV, "99999999999,x,2\n+5,x,.5\n", {}),
}


def rows_or_failure(read):
    try:
        return [tuple(row) for row in read().collect()]
    except Exception:
        return "fails"


@pytest.mark.parametrize("case", AGREEING)
def test_rows_are_those_of_sparks_reader_under_every_mode(spark, tmp_path, case):
    schema, text, options = AGREEING[case]
    path = tmp_path / "a.csv"
    path.write_text(text)
    for mode in ("PERMISSIVE", "DROPMALFORMED", "FAILFAST"):
        asked = {**options, "mode": mode}
        expected = rows_or_failure(lambda asked=asked: spark.read.schema(schema).options(**asked).csv(str(path)))
        assert (
            rows_or_failure(lambda asked=asked: su.read(spark, path, "csv", schema=schema, options=asked)) == expected
        ), mode


def test_json_records_that_are_none_stay_rows_as_in_spark(spark, tmp_path):
    schema = "a INT, b STRING, _corrupt_record STRING"
    path = tmp_path / "a.json"
    path.write_text('{"a":1,"b":"x"}\n{"a":"z","b":"y"}\n{"a":2\n[1]\n\nnonsense\n{"a":1.5}\n{"b":"w"}\n' * 3)
    for mode in ("PERMISSIVE", "DROPMALFORMED", "FAILFAST"):
        expected = rows_or_failure(lambda mode=mode: spark.read.schema(schema).json(str(path), mode=mode))
        ours = rows_or_failure(lambda mode=mode: su.read(spark, path, "json", schema=schema, options={"mode": mode}))
        assert ours == expected, mode


def test_times_of_json_are_written_as_the_options_say(spark, tmp_path):
    options = {
        "timestampFormat": "dd/MM/yyyy HH:mm", "timestampNTZFormat": "HH:mm dd.MM.yyyy", "dateFormat": "MM-dd-yyyy",
        "timeZone": "UTC",
    }  # fmt: skip
    schema = (
        "t TIMESTAMP, n TIMESTAMP_NTZ, d DATE, l ARRAY<TIMESTAMP>, m MAP<STRING, DATE>, s STRUCT<d: DATE>, " + CORRUPT
    )
    path = tmp_path / "a.json"
    path.write_text(
        '{"t": "31/12/2023 23:59", "n": "05:06 07.08.2009", "d": "02-29-2024"}\n'
        '{"l": ["01/02/2003 04:05", null], "m": {"k": "12-31-1999"}, "s": {"d": "01-01-2001"}}\n'
        '{"t": "31/13/2023 23:59"}\n{"d": "02-30-2023"}\n{"s": {"d": "31-12-2001"}}\n'
    )
    for mode in ("PERMISSIVE", "DROPMALFORMED", "FAILFAST"):
        asked = {**options, "mode": mode}
        expected = rows_or_failure(lambda asked=asked: spark.read.schema(schema).options(**asked).json(str(path)))
        assert (
            rows_or_failure(lambda asked=asked: su.read(spark, path, "json", schema=schema, options=asked)) == expected
        ), mode


def test_columns_that_a_header_lacks_are_null_and_others_are_left_out(spark, tmp_path):
    """In Spark both are errors."""
    (tmp_path / "1.csv").write_text("b,A\nx,1\n")
    (tmp_path / "2.csv").write_text("extra,a\nq,2\n")
    (tmp_path / "3.csv").write_text("C\n2.5\n")
    options = {"header": True, "enforceSchema": False}
    df = su.read(spark, tmp_path, "csv", schema=PLAIN, options=options)
    assert df.collect() == [(1, "x", None), (2, None, None), (None, None, 2.5)]
    assert df.where("a IS NULL").select("c").collect() == [(2.5,)]
    assert df.where("b = 'x'").count() == 1


def test_permissive_rows_can_be_filtered_also_by_the_corrupt_column(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,x,2\nz,y,1\n3,w,q\n7,v,1\n")

    def read(**more):
        return [tuple(row) for row in su.read(spark, path, "csv", schema=CSV, **more).collect()]

    assert read(columns=["b"], filters=[("a", ">", 2)]) == [("w",), ("v",)]
    assert read(columns=["_corrupt_record"], filters=[("_corrupt_record", "is_not_null")]) == [("z,y,1",), ("3,w,q",)]
    assert read(columns=["a", "_corrupt_record"], filters=[("a", "is_null")]) == [(None, "z,y,1")]


def test_mode_permissive_is_the_default_with_options_and_raise_with_a_format(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("z,y\n")
    assert su.read(spark, path, "csv", schema=SCHEMA).collect() == [(None, "y")]
    assert su.read(spark, path, "csv", schema=SCHEMA, on_error="skip").collect() == []
    with pytest.raises(Exception, match="expected int32, found 'z'"):
        su.read(spark, path, fm.Csv(SCHEMA)).collect()


def test_latin_text_is_read_as_in_spark_also_where_a_record_is_bad(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("1,hä,2\nx,ö,3\n".encode("latin-1"))
    options = {"charset": "ISO-8859-1"}
    expected = spark.read.schema(CSV).options(**options).csv(str(path)).collect()
    assert su.read(spark, path, "csv", schema=CSV, options=options).collect() == expected
    assert expected[1] == (None, "ö", 3.0, "x,ö,3")
    path.write_bytes("a,b,c\n1,hä,2\nx,ö,3\n".encode("utf-16"))
    options = {"encoding": "UTF-16", "header": True}
    assert su.read(spark, path, "csv", schema=CSV, options=options).collect() == expected


def test_a_glob_of_names_and_recursion_without_folders_are_taken(spark, tmp_path):
    (tmp_path / "k=1").mkdir()
    for name in ("a.csv", "b.txt"):
        (tmp_path / "k=1" / name).write_text(f"1,{name}\n")
    options = {"pathGlobFilter": "*.csv", "recursiveFileLookup": True}
    df = su.read(spark, tmp_path, "csv", schema=SCHEMA, options=options)
    assert (df.columns, df.collect()) == (["a", "b"], [(1, "a.csv")])


REFUSED = [
    (
        "csv",
        {"encoding": "Shift_JIS"},
        "option encoding='Shift_JIS' is not taken: bytes are UTF-8, ISO-8859-1, windows-1252 or UTF-16",
    ),
    ("json", {"encoding": "ISO-8859-1"}, "bytes are UTF-8; convert the files"),
    ("csv", {"timestampFormat": "EEE dd"}, "'EEE', which has no like here"),
    ("csv", {"dateFormat": "dd/MM/yy"}, "'yy', which has no like here"),
    ("csv", {"dateFormat": "dd/MM/yyyy[ HH]"}, r"parts in \[\]"),
    ("csv", {"maxCharsPerColumn": 1000}, "there is no such limit"),
    ("csv", {"maxColumns": 1}, "the schema has 2 columns"),
    ("csv", {"timeZone": "Europe/Berlin"}, "read TIMESTAMP_NTZ and convert"),
    ("csv", {"quote": "''"}, "one character of ASCII"),
    ("csv", {"mode": "LENIENT"}, "it is PERMISSIVE, DROPMALFORMED or FAILFAST"),
    ("csv", {"header": "yes"}, "it is true or false"),
    ("csv", {"haeder": True}, "no option 'haeder'"),
    ("csv", {"sep": ";", "delimiter": ","}, "given twice"),
    ("csv", {"quoteAll": True}, "it concerns writing"),
    ("json", {"allowComments": True}, "it is no JSON"),
    ("json", {"timestampFormat": "EEE"}, "'EEE', which has no like here"),
    ("json", {"sep": ";"}, "no option 'sep'"),
    ("xml", {}, "format is one of 'csv', 'json', found 'xml'"),
]


@pytest.mark.parametrize(("kind", "options", "message"), REFUSED, ids=[str(case[1]) for case in REFUSED])
def test_an_option_with_another_meaning_is_refused_with_a_reason(kind, options, message):
    with pytest.raises(fm.OptionError, match=message):
        su.format_from_options(kind, SCHEMA, options)


@pytest.mark.parametrize("name", ["HEADER", "header", "Header"])
def test_names_of_options_count_in_any_case(name):
    assert su.format_from_options("csv", SCHEMA, {name: "TRUE"}).format.header


def test_options_that_only_steer_inference_are_without_effect():
    options = {"inferSchema": True, "samplingRatio": 0.5, "preferDate": False}
    assert su.format_from_options("csv", SCHEMA, options).format == su.format_from_options("csv", SCHEMA, {}).format


PATTERNS = {
    "yyyy-MM-dd": None,
    "yyyy-MM-dd HH:mm:ss": None,
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX": None,
    "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]": None,
    "dd/MM/yyyy": "%d/%m/%Y",
    "d MMM yyyy h:mm a": "%d %b %Y %I:%M %p",
    "yyyyMMdd'T'HHmmss": "%Y%m%dT%H%M%S",
    "HH 'o''clock' 100%": "%H o'clock 100%%",
    "dd/MM/yyyy HH:mm:ss.SSSSSS": "%d/%m/%Y %H:%M:%S.%f",
}


@pytest.mark.parametrize("java", PATTERNS)
def test_javas_patterns_are_translated(java):
    assert strptime_of(java) == PATTERNS[java]


def test_a_translated_pattern_reads_what_java_reads(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("5 Mar 2024 3:07 PM\n")
    options = {"timestampNTZFormat": "d MMM yyyy h:mm a"}
    expected = spark.read.schema("t TIMESTAMP_NTZ").options(**options).csv(str(path)).collect()
    assert su.read(spark, path, "csv", schema="t TIMESTAMP_NTZ", options=options).collect() == expected
    assert expected == [(dt.datetime(2024, 3, 5, 15, 7),)]


WITH_CORRUPT = pa.schema([("a", pa.int32()), ("_corrupt_record", pa.string())])
CONFLICTS = {
    "schema= is needed": {"format": "csv", "options": {"sep": ";"}},
    "give one": {"format": "csv", "schema": SCHEMA, "options": {"mode": "FAILFAST"}, "on_error": "skip"},
    "an fm format has its own": {"format": fm.Csv(SCHEMA), "options": {"header": True}},
    "format is fm.Csv": {"format": 7},
    "is filled in mode PERMISSIVE only": {"format": "csv", "schema": WITH_CORRUPT,
                                          "on_error": "skip"},
}  # fmt: skip


@pytest.mark.parametrize("message", CONFLICTS)
def test_arguments_that_contradict_each_other_are_refused(message):
    with pytest.raises(fm.OptionError, match=message):
        su.read(None, "nowhere.csv", **CONFLICTS[message])


def test_the_corrupt_column_must_be_a_string():
    with pytest.raises(fm.SchemaError, match="'_corrupt_record' is a string, found int64"):
        su.format_from_options("csv", pa.schema([("a", pa.int64()), ("_corrupt_record", pa.int64())]), {})


def test_migrate_says_what_becomes_of_each_option():
    options = {"header": True, "sep": ";", "encoding": "Shift_JIS", "dateFormat": "dd/MM/yyyy", "mode": "DROPMALFORMED"}
    text = su.migrate(options, "csv")
    assert (
        "format = fm.Csv(su.arrow_schema(schema), delimiter=';', quotes='lenient', newlines_in_quotes=False, header=True"
        in text
    )
    assert 'su.read(spark, path, format, on_error="skip")  # mode DROPMALFORMED' in text
    assert "timestamp_formats has '%d/%m/%Y'" in text
    assert "encoding: REFUSED. csv option encoding='Shift_JIS' is not taken" in text
    assert "escape (not given): quotes inside quotes are doubled" in text


def test_migrate_names_an_option_that_is_refused_as_it_was_given():
    assert "charset: REFUSED. csv option encoding='koi8' is not taken" in su.migrate({"charset": "koi8"}, "csv")
    assert "HEADER: REFUSED. csv option header='yes'" in su.migrate({"HEADER": "yes"}, "csv")


def test_migrate_of_a_bare_json_read_has_no_options():
    text = su.migrate({}, "json", schema=SCHEMA)
    assert "fm.Json(su.arrow_schema(schema))  # a, b" in text
    assert "mode PERMISSIVE: bad is null" in text

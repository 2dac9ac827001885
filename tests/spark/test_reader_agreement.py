"""What a Spark user expects of a path, a folder, a suffix or a type: the rows of spark.read, or an error that says why not."""

from __future__ import annotations

import gzip

import pytest
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructField, StructType

import formatter as fm
import spark_udfs as su

ROWS = b"1,a\n2,b\n"
SCHEMA = "id INT, t STRING"


def written(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def both(spark, path, schema=SCHEMA, kind="csv", options=None):
    """(rows of spark.read, ours), each sorted."""
    theirs = getattr(spark.read.schema(schema).options(**(options or {})), kind)(path)
    ours = su.read(spark, path, kind, schema=schema, options=options or {})
    assert ours.columns == theirs.columns
    return tuple(sorted(map(repr, frame.collect())) for frame in (theirs, ours))


FOLDERS = {  # files, then what is asked for
    "folders that are no partitions are left alone": ({"a.csv": ROWS, "sub/z.csv": ROWS}, ""),
    "an empty folder has no rows": ({"x/a.csv": ROWS}, "x/.."),
    "files of no bytes or one line end": ({"a.csv": b"", "b.csv": b"\n", "c.csv": ROWS}, ""),
    "braces name several files": ({"a.csv": ROWS, "b.csv": b"3,c\n", "c.csv": b"4,d\n"}, "{a,b}.csv"),
    "braces in braces": ({"p/a.csv": ROWS, "q1/a.csv": b"3,c\n", "q2/a.csv": b"4,d\n"}, "{p,q{1,2}}/a.csv"),
    "a class that is not": ({"a.csv": ROWS, "b.csv": b"3,c\n"}, "[^b].csv"),
    "plus signs in folders": ({"k=-1/a.csv": ROWS, "k=+2/a.csv": ROWS}, ""),
    "folders of more than 64 bits": ({"k=9223372036854775808/a.csv": ROWS, "k=1/a.csv": ROWS}, ""),
    "special characters in folders": ({"k=a%2Fb%3Dc/a.csv": ROWS, "k=ü d/a.csv": ROWS, "k=100%25/a.csv": ROWS}, ""),
    "a folder within a partition": ({"k=1/sub/a.csv": ROWS, "k=2/a.csv": ROWS}, ""),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_the_files_of_a_path_are_those_of_sparks_reader(spark, tmp_path, case):
    files, asked = FOLDERS[case]
    theirs, ours = both(spark, f"{written(tmp_path, files)}/{asked}".rstrip("/"))
    assert ours == theirs


def test_dates_and_times_in_folders_are_times(spark, tmp_path):
    written(tmp_path, {"k=2024-01-02/a.csv": ROWS, "k=2024-01-02 03%3A04%3A05/a.csv": ROWS})
    theirs, ours = both(spark, str(tmp_path))
    assert ours == theirs


@pytest.mark.parametrize("type_", ["STRING", "BIGINT", "DOUBLE"])
def test_a_folder_that_the_schema_names_has_the_type_it_says_and_stands_last(spark, tmp_path, type_):
    written(tmp_path, {"k=1/a.csv": ROWS, "k=2/a.csv": ROWS})
    theirs, ours = both(spark, str(tmp_path), f"id INT, k {type_}, t STRING, _corrupt_record STRING")
    assert ours == theirs


def test_a_folder_search_that_is_asked_for_makes_no_columns(spark, tmp_path):
    written(tmp_path, {"k=1/a.csv": ROWS, "p/q/b.csv": ROWS})
    theirs, ours = both(spark, str(tmp_path), options={"recursiveFileLookup": True})
    assert ours == theirs


@pytest.mark.parametrize("codec", ["gzip", "bzip2", "lz4", "deflate", "snappy"])
def test_files_that_spark_compressed_are_read(spark, tmp_path, codec):
    many = spark.range(0, 60_000, 1, 1).selectExpr("CAST(id AS INT) id", "concat('text ', id % 97) t")
    many.write.csv(str(tmp_path / "out"), compression=codec)
    frame = su.read(spark, tmp_path / "out", "csv", schema=SCHEMA)
    assert frame.exceptAll(many).isEmpty()
    assert frame.count() == 60_000


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst", "lz4", "deflate", "snappy"])
def test_a_damaged_file_is_named(spark, tmp_path, suffix):
    content = gzip.compress(ROWS * 1_000)[:-20] if suffix == "gz" else b"\x00\x00\x00\x09\x00\x00\x00\x05no such bytes"
    (tmp_path / f"broken.csv.{suffix}").write_bytes(content)
    with pytest.raises(Exception, match=rf"broken\.csv\.{suffix}: "):
        su.read(spark, tmp_path, "csv", schema=SCHEMA).collect()


def test_files_behind_one_another_in_one_are_all_read(spark, tmp_path):
    import zlib

    (tmp_path / "a.csv.deflate").write_bytes(zlib.compress(ROWS) + zlib.compress(b"3,c\n"))
    assert sorted(map(tuple, su.read(spark, tmp_path, "csv", schema=SCHEMA).collect())) == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]


JSON_VALUES = {
    "STRING": ['"x"', "12", "1.50", "1e2", "true", "null", '{"b": [1, "}"]}', "[]", r'"é\n"', "-0"],
    "BINARY": ['"YWJj"', '""', '"YW"', '"!"', "null"],
    "ARRAY<STRING>": ['["x", {"z": 1}, 2, null]'],
    "MAP<STRING, STRING>": ['{"k": 1, "l": "m", "n": {"o": 2}}'],
    "STRUCT<s: STRING, b: BINARY>": ['{"s": [1,2], "b": "YWJj"}', '{"s": false}'],
    "BOOLEAN": ["true", "false", "null", '"true"', "1"],
    "DECIMAL(6, 2)": ["1.25", '"1.25"', "1e2", "12345.6"],
    "DATE": ['"2024-01-02"', '"2024-02-30"', "null"],
    "TIMESTAMP": ['"2024-01-02T03:04:05Z"', '"2024-01-02T03:04:05.123+01:00"', '"2024-01-02 03:04:05"', '"x"'],
}


@pytest.mark.parametrize("type_", JSON_VALUES)
def test_json_values_are_read_as_spark_reads_them(spark, tmp_path, type_):
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        (tmp_path / "a.json").write_text("".join(f'{{"a":{value}}}\n' for value in JSON_VALUES[type_]))
        for mode in ("PERMISSIVE", "DROPMALFORMED"):
            schema = f"a {type_}, _corrupt_record STRING"
            theirs, ours = both(spark, str(tmp_path), schema, "json", {"mode": mode})
            assert ours == theirs
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


CSV_VALUES = {
    "BOOLEAN": "true\ntRuE\nFALSE\nfAlSe\nyes\n1\n",
    "TINYINT": "127\n128\n-128\n+5\n1.0\n",
    "BINARY": "abc\né\n",
    "DECIMAL(38, 18)": "12345678901234567890.123456789012345678\n-0\n+1.5\n",
    "FLOAT": "1.5\n1e10\nInf\n-Inf\nNaN\n.5\n5.\n1e-50\n",
    "DATE": "2024-01-02\n2024-02-30\n0001-01-01\n9999-12-31\n",
    "TIMESTAMP_NTZ": "2024-01-02\n2024-01-02 03:04\n2024-01-02T03:04:05.123456\n1500-01-01 00:00:00\n25:00\n",
}


@pytest.mark.parametrize("type_", CSV_VALUES)
def test_csv_values_are_read_as_spark_reads_them(spark, tmp_path, type_):
    (tmp_path / "a.csv").write_text(CSV_VALUES[type_])
    for mode in ("PERMISSIVE", "DROPMALFORMED"):
        theirs, ours = both(
            spark, str(tmp_path), f"a {type_}, _corrupt_record STRING", "csv", {"mode": mode, "sep": "|"}
        )
        assert ours == theirs


HEADERS = ["b,a\n1,2\n", "A,B\n1,2\n", " a , b \n1,2\n", "a,b,c\n1,2,3\n", "a\n1\n", "a,a\n1,2\n", "a,b\n", ""]


@pytest.mark.parametrize("content", HEADERS)
def test_a_header_is_passed_over_and_columns_are_taken_by_position(spark, tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    theirs, ours = both(spark, str(tmp_path), "a INT, b INT", "csv", {"header": True})
    assert ours == theirs


def test_names_of_a_header_count_where_that_is_asked_for(spark, tmp_path):
    (tmp_path / "a.csv").write_text("b,a\n1,2\n")
    by_name = su.read(spark, tmp_path, "csv", schema="a INT, b INT", options={"header": True, "enforceSchema": False})
    assert by_name.collect() == [(2, 1)]


def test_intervals_are_refused_with_a_remedy(spark, tmp_path):
    for kind in ("csv", "json"):
        with pytest.raises(fm.SchemaError, match=r"column 'a' is an interval.* declare a string"):
            su.read(spark, tmp_path, kind, schema="a INTERVAL DAY TO SECOND")


def test_a_session_of_another_zone_must_say_what_times_without_one_are(spark, tmp_path):
    (tmp_path / "a.csv").write_text("2024-01-02T03:04:05Z\n")
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        for schema in ("a TIMESTAMP", "a STRUCT<x: ARRAY<TIMESTAMP>>"):
            kind = "csv" if schema == "a TIMESTAMP" else "json"
            with pytest.raises(
                fm.OptionError, match=r"session's time zone is 'Asia/Tokyo'.*give the option timeZone='UTC'"
            ):
                su.read(spark, tmp_path, kind, schema=schema)
        theirs, ours = both(spark, str(tmp_path), "a TIMESTAMP", "csv", {"timeZone": "UTC"})
        assert ours == theirs
        assert su.read(spark, tmp_path, "csv", schema="a TIMESTAMP_NTZ").count() == 1
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.parametrize(
    "options",
    [{}, {"nullValue": "NA"}, {"emptyValue": "E"}, {"nullValue": "NA", "emptyValue": "E"}, {"nullValue": "E", "emptyValue": "E"},
     {"mode": "FAILFAST"}],
    ids=str,
)  # fmt: skip
def test_texts_are_null_and_empty_where_spark_has_them_so(spark, tmp_path, options):
    """Quotes keep no text from being null; an empty text in quotes is what emptyValue says."""
    written(tmp_path, {"a.csv": b'1,\n2,""\n3,NA\n4,"NA"\n5,x\n6,"E"\n7,"x"\n'})
    theirs, ours = both(spark, str(tmp_path), options=options)
    assert ours == theirs
    frames = (
        spark.read.schema(SCHEMA).options(**options).csv(str(tmp_path)),
        su.read(spark, tmp_path, "csv", schema=SCHEMA, options=options, filters=[("t", "is_null")]),
    )
    assert sorted(frames[1].collect()) == sorted(frames[0].where("t IS NULL").collect())


def test_a_file_of_json_may_be_one_document_or_an_array_of_them(spark, tmp_path):
    files = {
        "a.json": b'{\n "id": 1,\n "t": "x"\n}\n',
        "b.json": b'\n [{"id": 2, "t": "y"},\n {"id": 3}\n]',
        "c.json": b"\xef\xbb\xbf  [ ]",
        "d.json": b" " * 5_000 + b'[{"id": 4}]',
        "e.json.gz": gzip.compress(b'[\n{"id": 5, "t": [1,\n 2]}]'),
    }
    written(tmp_path, files)
    theirs, ours = both(spark, str(tmp_path), kind="json", options={"multiLine": True})
    assert [row.replace("\\n", "").replace(" ", "") for row in ours] == [
        row.replace("\\n", "").replace(" ", "") for row in theirs
    ]
    assert len(ours) == 5


def test_partition_folders_begin_where_an_option_says(spark, tmp_path):
    written(tmp_path, {"k=1/a.csv": ROWS, "k=2/a.csv": ROWS})
    options = {"basePath": str(tmp_path)}
    theirs, ours = both(spark, str(tmp_path / "k=1"), options=options)
    assert ours == theirs
    assert "k=1" in ours[0]


def test_several_paths_are_read_as_one_frame(spark, tmp_path):
    written(tmp_path, {"x/a.csv": ROWS, "y/a.csv": b"3,c\n"})
    paths = [str(tmp_path / "x"), str(tmp_path / "y")]
    theirs, ours = both(spark, paths)
    assert ours == theirs
    su.register(spark)
    source = spark.read.format("formatter").schema(SCHEMA).option("kind", "csv").load(paths)
    assert sorted(map(repr, source.collect())) == ours


def test_many_small_files_are_no_more_tasks_than_in_spark(spark, tmp_path):
    written(tmp_path, {f"{number}.csv": ROWS for number in range(200)})
    theirs = spark.read.schema(SCHEMA).csv(str(tmp_path)).rdd.getNumPartitions()
    ours = su.read(spark, tmp_path, "csv", schema=SCHEMA)
    assert ours.rdd.getNumPartitions() <= theirs
    assert ours.count() == 400


STRAY = [
    'x"y,1', '"x,3', '"a""b",8', '"a"",9', '"",10', '""",12', 'a"",13', '"a,b",14', 'x,"16"', 'x,"17', 'x,18"', ' "a",7',
    '"x\ny",19',
    '"a,b\nc,d",20',
]  # fmt: skip
STRAY_BEHIND = {'"x"y,2': "xy", '"a"b"c,5': 'ab"c', '"a,b"c,15': "a,bc", '"a"b,"19"': "ab"}  # and what ours is


@pytest.mark.parametrize("multi_line", [False, True])
def test_stray_quotes_are_text_and_records_end_where_they_do_in_spark(spark, tmp_path, multi_line):
    """One file a case, each with a record behind it that must not be lost."""
    cases = [case for case in STRAY if not multi_line or case.count('"') % 2 == 0]
    written(tmp_path, {f"{at}.csv": f"{line}\nend,{at}\n".encode() for at, line in enumerate(cases)})
    options = {"escape": '"', "multiLine": multi_line}
    schema = "t STRING, d DOUBLE" + ("" if multi_line else ", _corrupt_record STRING")
    theirs, ours = both(spark, str(tmp_path), schema, options=options)
    assert ours == theirs
    assert sum("end" in row for row in ours) == len(cases)


def test_text_behind_a_closing_quote_stays_in_its_field(spark, tmp_path):
    written(tmp_path, {f"{at}.csv": f"{line}\nend,0\n".encode() for at, line in enumerate(STRAY_BEHIND)})
    schema = "t STRING, d DOUBLE"
    theirs = spark.read.schema(schema).csv(str(tmp_path), escape='"').collect()
    ours = su.read(spark, tmp_path, "csv", schema=schema).collect()
    assert sorted(row.d for row in ours) == sorted(row.d for row in theirs)
    assert {row.t for row in ours} == {*STRAY_BEHIND.values(), "end"}


def test_one_stray_quote_loses_no_row_of_a_file_in_splits(spark, tmp_path):
    """Without multiLine no survey of quotes is needed: any line end ends a record."""
    lines = [f"{n},text {n}" for n in range(20_000)]
    lines[10] = '10,"text 10'
    written(tmp_path, {"a.csv": ("\n".join(lines) + "\n").encode()})
    ours = su.read(spark, tmp_path, "csv", schema=SCHEMA, split_bytes=1)
    assert ours.count() == len(lines)
    assert ours.where("t LIKE 'text%'").count() == len(lines)
    strict = su.read(
        spark, tmp_path, "csv", schema=SCHEMA, options={"unescapedQuoteHandling": "RAISE_ERROR", "mode": "FAILFAST"}
    )
    with pytest.raises(Exception, match="stray"):
        strict.collect()


LISTS = {  # paths and the option basePath, below a folder with k=v folders in x and files in plain
    "one file twice": (["plain/a.csv", "plain/a.csv"], None),
    "a folder and a file in it": (["plain", "plain/a.csv"], None),
    "two folders of one base": (["x/k=1", "x/k=2"], "x"),
    "folders and files of one base": (["x/k=1/j=1/a.csv", "x/k=2"], "x"),
    "a folder within the base": (["x/k=1"], "x/"),
    "a base above": (["x"], ""),
    "a glob": (["x/k=*"], "x"),
    "a glob of files": (["x/*/*/*.csv"], None),
}
MISLED = {
    "folders whose base nobody says": (["x/k=1", "x/k=2"], None),
    "folders beside files": (["x", "plain"], None),
    "a base below": (["x"], "x/k=1"),
    "a base that is a file": (["plain"], "plain/a.csv"),
    "a base beside": (["x"], "plain"),
    "a path that is not there": (["plain", "nowhere"], None),
}


def of_lists(spark, root, case):
    paths, base = case
    written(root, {"x/k=1/j=1/a.csv": ROWS, "x/k=2/j=3/a.csv": b"3,c\n", "plain/a.csv": ROWS})
    options = {} if base is None else {"basePath": f"{root}/{base}"}
    return both(spark, [f"{root}/{path}" for path in paths], options=options)


@pytest.mark.parametrize("case", LISTS.values(), ids=LISTS.keys())
def test_lists_of_paths_and_bases_mean_what_they_mean_to_sparks_reader(spark, tmp_path, case):
    theirs, ours = of_lists(spark, tmp_path, case)
    assert ours == theirs
    assert ours


@pytest.mark.parametrize("case", MISLED.values(), ids=MISLED.keys())
def test_lists_of_paths_and_bases_that_spark_refuses_are_refused(spark, tmp_path, case):
    paths, base = case
    with pytest.raises(Exception, match=r"(?i)path|conflicting"):
        of_lists(spark, tmp_path, case)  # Spark's
    options = {} if base is None else {"basePath": f"{tmp_path}/{base}"}
    with pytest.raises((fm.OptionError, fm.SchemaError, FileNotFoundError)):
        su.read(spark, [f"{tmp_path}/{path}" for path in paths], "csv", schema=SCHEMA, options=options)


def test_whatever_a_schema_says_values_of_files_may_be_null_inside_of_others_too(spark, tmp_path):
    required = [
        StructField("m", MapType(StringType(), IntegerType(), False), False),
        StructField("l", ArrayType(StructType([StructField("x", IntegerType(), False)]), False), False),
    ]
    (tmp_path / "a.json").write_text('{"m": {"k": null, "j": 1}, "l": [{"x": null}, null, {}]}\n{"l": [{"x": 1}]}\n')
    theirs = spark.read.schema(StructType(required)).json(str(tmp_path))
    ours = su.read(spark, tmp_path, "json", schema=StructType(required), options={})
    assert ours.schema == theirs.schema
    assert sorted(map(str, ours.collect())) == sorted(map(str, theirs.collect()))
    values = spark.read.text(str(tmp_path))
    parsed = su.parse_column(values, "value", "json", schema=StructType(required)).select("v")
    assert parsed.collect() == values.select(f.from_json("value", StructType(required)).alias("v")).collect()


def test_no_paths_at_all_are_an_error_that_says_so(spark):
    with pytest.raises(fm.OptionError, match="no paths are given"):
        su.read(spark, [], "csv", schema=SCHEMA, options={})


def test_a_path_may_be_written_as_spark_writes_those_of_this_machine(spark, tmp_path):
    written(tmp_path, {"k=1/a.csv": ROWS})
    for path in (f"file:{tmp_path}", f"file://{tmp_path}"):
        theirs, ours = both(spark, f"{path}/k=1", options={"basePath": path})
        assert ours == theirs

"""The declarations that come along, each against a reading of its own in a few lines; every cut, order, kernel and on_error.

In: records made at random, as programs that write the format would. Out: verdicts.
"""

from __future__ import annotations

import datetime
import doctest
import pickle
import random
import re
import urllib.parse
from itertools import accumulate, pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from oracle.stream_runs import SIZES, cut_departure, multiset, pieces_of, row_tuples, shuffled, whole_read

import formatter as fm
from formatter import declared

TEXTS = ["", "a", "some text", 'say "x"', "back\\slash", "é", "x=y", "50%&+", "[1] <2>", "-", "|^~"]
UTC = datetime.UTC


def number(text):
    return int(text) if text not in (None, "", "-", ".") else None


def quoted(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def unquoted(text):
    return re.sub(r"\\(.)", r"\1", text)


def hl7_message(chance):
    name = chance.choice(["DOE^JOHN", "DOE^J&Q~ROE^JANE", "A\\T\\B^C", "A\\X41\\^B", ""])
    seen = "".join(f"OBX|{i}|NM|c||{chance.choice(['7', '1.5', ''])}\r" for i in range(chance.randrange(3)))
    return f"MSH|^~\\&|app|x|y|z|2024||ADT^A01|{chance.randrange(99)}|P|2.5\rPID|1||{chance.randrange(9)}^^^H||{name}\r{seen}"


def hl7_row(message):
    fields = [segment.split("|") for segment in message.split("\r")]
    of = {f[0]: f for f in reversed(fields)}
    names = of["PID"][5].split("~")
    given = [*names[0].split("^"), ""][1].split("&")[0]
    seen = [f for f in fields if f[0] == "OBX"]
    meant = names[0].split("^")[0].replace("\\T\\", "&").replace("\\X41\\", "A")
    return (
        number(of["MSH"][9]),
        meant or None,
        given or None,
        float(seen[1][5]) if len(seen) > 1 and seen[1][5] else None,
    )


def hl7_format(framing):
    schema = pa.schema([("id", pa.int64()), ("family", pa.string()), ("given", pa.string()), ("second", pa.float64())])
    paths = {"id": "MSH.10", "family": "PID.5.1", "given": "PID.5.1.1", "second": "OBX[2].5"}
    return declared.hl7(schema, paths | {"given": "PID.5.2.1"}, framing=framing)


def logfmt_record(chance):
    pairs = [
        f"n={chance.randrange(99)}",
        "flag",
        f'text="{quoted(chance.choice(TEXTS))}"',
        "other=[1]",
        f"bare={chance.choice(['', 'x', 'xx', 'C:' + chr(92) + 'new', chr(92) + 'x41'])}",
    ]
    chance.shuffle(pairs)
    return " ".join(pairs[: chance.randrange(1, 6)])


def logfmt_row(line):
    found = {}
    for key, text, bare in re.findall(r'(\w+)(?:=(?:"((?:\\.|[^"\\])*)"|([^ ]*)))?', line):
        found.setdefault(key, unquoted(text) or bare)
    return number(found.get("n")), found.get("text") or None, found.get("bare") or None


def access_record(chance):
    time = datetime.datetime(2024, 2, 29, chance.randrange(24), 5, chance.randrange(60)).strftime(
        "%d/%b/%Y:%H:%M:%S +0100"
    )
    who = f"10.0.0.{chance.randrange(9)} - {chance.choice('ab-')}"
    answer = f"{chance.choice([200, 404])} {chance.choice(['-', '512'])}"
    target = f"{chance.choice('/[<')}{chance.randrange(9)}?a"
    return f'{who} [{time}] "GET {target} HTTP/1.1" {answer} "-" "{quoted(chance.choice(TEXTS))}"'


def access_row(line):
    text = r'"((?:\\.|[^"\\])*)"'
    host, user, time, request, status, size, referer, agent = re.fullmatch(
        rf"(\S+) - (\S+) \[(.*?)\] {text} (\d+) (\S+) {text} {text}", line
    ).groups()
    at = datetime.datetime.strptime(time, "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
    null = (None, "-", "")
    rest = (number(size), None if referer in null else referer, None if unquoted(agent) in null else unquoted(agent))
    return (host, None, None if user == "-" else user, at, *request.split(" "), int(status), *rest)


def fixed_record(chance):
    return f"{chance.randrange(9999):>5}{chance.choice(['Oslo', 'São', '', 'x y']):<6}{chance.choice(['1.5', '', ' 2'])}".rstrip(
        " " * chance.randrange(2)
    )


def fixed_row(line):
    at = line.encode()
    texts = [at[a:b].strip().decode() for a, b in ((0, 5), (5, 11), (11, None))]
    return number(texts[0]), texts[1] or None, float(texts[2]) if texts[2] else None


def syslog_record(chance):
    data = chance.choice(["-", '[a@1 k="v"]', '[a@1 k="x \\] \\" y"][b@2]'])
    message = chance.choice(["", " it failed", " [open", ' "q" <3>', " \ufeffé"])
    return (
        f"<{chance.randrange(192)}>1 2003-10-11T22:14:15.003Z {chance.choice(['host', '-'])} su 12 ID {data}{message}"
    )


def syslog_row(line):
    found = re.fullmatch(
        r"<(\d+)>(\d+) (\S+) (\S+) (\S+) (\S+) (\S+) (-|(?:\[(?:\\.|[^\]\\])*\])+)(?: (.*))?", line
    ).groups()
    at = datetime.datetime(2003, 10, 11, 22, 14, 15, 3000, UTC)
    return (int(found[0]), int(found[1]), at, *(None if text in ("-", "", None) else text for text in found[3:]))


def block_record(chance):
    lines = [f"Package: p{chance.randrange(9)}", f"Size:{chance.randrange(9)} ", "Note: a: b", "Odd"]
    chance.shuffle(lines)
    return "\n".join(lines[: chance.randrange(1, 5)])


def block_row(text):
    found = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in text.split("\n")}
    return found.get("Package"), number(found.get("Size")), found.get("Note")


def vcf_record(chance):
    info = ";".join(chance.sample([f"DP={chance.randrange(99)}", "DB", "AF=0.5,0.1", "X=."], 2))
    return f"chr{chance.randrange(9)}\t{chance.randrange(9999)}\t.\tA\tT\t{chance.choice(['29.5', '.'])}\tPASS\t{info}\tGT\t0|1"


def vcf_row(line):
    fields = line.split("\t")
    info = dict(pair.partition("=")[::2] for pair in fields[7].split(";"))
    quality = None if fields[5] == "." else float(fields[5])
    return fields[0], int(fields[1]), None, quality, number(info.get("DP")), info.get("AF"), "0|1"


def gff_record(chance):
    attributes = f"ID=g{chance.randrange(9)};Name={chance.choice(['a%3Bb', 'c', '%25', 'd%20e', '%7e', '%e9'])}"
    return f"ctg\t.\tgene\t{chance.randrange(99)}\t9\t.\t+\t.\t{attributes}"


def unquoted_ascii(text):
    return re.sub("%([0-7][0-9A-Fa-f])", lambda found: chr(int(found[1], 16)), text)


def gff_row(line):
    fields = line.split("\t")
    attributes = dict(pair.split("=") for pair in fields[8].split(";"))
    return fields[0], None, int(fields[3]), attributes["ID"], unquoted_ascii(attributes["Name"])


def query_record(chance):
    text = urllib.parse.urlencode({"n": chance.randrange(99), "text": chance.choice([*TEXTS, "ï"]), "é": "x"})
    return "".join(chance.choice([c, c.lower()]) for c in text)


def query_row(line):
    found = dict(urllib.parse.parse_qsl(line, keep_blank_values=True))
    return number(found["n"]), found["text"] or None


def ltsv_record(chance):
    return f"host:{chance.choice(['a', '::1', '-'])}\tn:{chance.randrange(9)}"


def ltsv_row(line):
    found = dict(pair.split(":", 1) for pair in line.split("\t"))
    return number(found["n"]), None if found["host"] == "-" else found["host"]


INT, TEXT, REAL = pa.int64(), pa.string(), pa.float64()
SHIPPED = {
    "hl7": (hl7_format("mllp"), hl7_message, hl7_row, ("\v", "\x1c\r")),
    "hl7 lines": (hl7_format("lines"), hl7_message, hl7_row, ("", "\n")),
    "logfmt": (declared.logfmt(pa.schema([("n", INT), ("text", TEXT), ("bare", TEXT)])), logfmt_record, logfmt_row, ("", "\n")),
    "combined_log": (declared.combined_log(), access_record, access_row, ("", "\n")),
    "fixed_width": (
        declared.fixed_width(pa.schema([("a", INT), ("b", TEXT), ("c", REAL)]), {"a": (0, 5), "b": (5, 11), "c": (11, None)}),
        fixed_record, fixed_row, ("", "\n"),
    ),
    "syslog": (declared.syslog(), syslog_record, syslog_row, ("", "\n")),
    "blocks": (
        declared.blocks(pa.schema([("Package", TEXT), ("Size", INT), ("Note", TEXT)])),
        block_record, block_row, ("", "\n\n"),
    ),
    "vcf": (
        declared.vcf(
            pa.schema(
                [("CHROM", TEXT), ("POS", INT), ("ID", TEXT), ("QUAL", REAL), ("DP", INT), ("AF", TEXT), ("one", TEXT)]
            ),
            {"one": (9,)},
        ),
        vcf_record, vcf_row, ("", "\n"),
    ),
    "gff3": (
        declared.gff3(pa.schema([("seqid", TEXT), ("score", REAL), ("start", INT), ("ID", TEXT), ("Name", TEXT)])),
        gff_record, gff_row, ("", "\n"),
    ),
    "query_strings": (declared.query_strings(pa.schema([("n", INT), ("text", TEXT)])), query_record, query_row, ("", "\n")),
    "ltsv": (declared.ltsv(pa.schema([("n", INT), ("host", TEXT)])), ltsv_record, ltsv_row, ("", "\n")),
}  # fmt: skip


def records_of(name, count, seed=0):
    chance = random.Random(f"{name} {seed}")
    _, record, _, _ = SHIPPED[name]
    return [record(chance) for _ in range(count)]


def joined(name, records):
    start, end = SHIPPED[name][3]
    return "".join(start + record + end for record in records).encode()


def repr_floats(rows):
    return [tuple(repr(value) if isinstance(value, float) else value for value in row) for row in rows]


@pytest.mark.parametrize("name", SHIPPED)
def test_records_read_as_a_reading_of_a_few_lines_says(name, kernel):
    format, _, row, _ = SHIPPED[name]
    records = records_of(name, 3000)
    table = fm.read(joined(name, records), format)
    table.validate(full=True)
    assert row_tuples([table]) == repr_floats(map(row, records))
    half = format.schema.names[::2]
    assert fm.read(joined(name, records), format, columns=half).equals(table.select(half))


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("on_error", ["raise", "null", "skip", "collect"])
def test_every_cut_and_order_gives_what_the_whole_gives(name, on_error):
    format = SHIPPED[name][0]
    good = records_of(name, 4, seed=1)
    data = joined(name, good[:2] + ['<broken> [ \x00\x01 = ( "'] * (on_error != "raise") + good[2:])
    data += joined(name, good[:1])[:-1]
    whole = whole_read(data, format, on_error)
    assert whole.error is None
    assert on_error == "raise" or len(whole.rows) >= 5
    assert cut_departure(data, format, whole, on_error, sizes=SIZES) is None


@pytest.mark.parametrize("name", SHIPPED)
def test_a_declaration_travels_and_knows_itself(name):
    format = SHIPPED[name][0]
    again = pickle.loads(pickle.dumps(format))
    assert again == format
    assert hash(again) == hash(format)


@pytest.mark.parametrize("name", SHIPPED)
def test_threads_ranges_and_shared_streams_see_the_same_rows(name):
    format, _, row, _ = SHIPPED[name]
    records = records_of(name, 6000, seed=2)
    data, expected = joined(name, records), multiset(repr_floats(map(row, records)))
    assert multiset(row_tuples([fm.read(data, format, threads=3)])) == expected
    shared = fm.SharedStream(format)
    one = shared.subscribe(fm.ALL, queue=10_000)
    for index in shuffled(len(pieces_of(data, 4096)), 3):
        shared.push(pieces_of(data, 4096)[index], sequence=index + 1)
    shared.finish()
    assert multiset(row_tuples(batch.data for batch in one)) == expected


@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "hl7"])
def test_an_array_of_records_reads_as_its_values_one_by_one(name):
    format, _, row, _ = SHIPPED[name]
    records = records_of(name, 300, seed=3)
    batch = fm.parse_records(pa.array([record.encode() for record in records]), format, on_error="raise")
    assert row_tuples([batch]) == repr_floats(map(row, records))


@pytest.mark.parametrize("name", declared.__all__)
def test_a_declaration_says_what_it_takes_and_its_example_runs(name):
    function = getattr(declared, name)
    test = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, 0)
    assert test.examples
    assert "Args:" in function.__doc__
    assert "Returns:" in function.__doc__
    report = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert "".join(report) == ""


def test_declarations_are_short():
    folder = Path(declared.__file__).parent
    assert all(len(path.read_text().splitlines()) < 150 for path in folder.glob("*.py"))


def texts_of(line, format):
    (row,) = fm.read(line, format).to_pylist()
    return row


def test_a_backslash_outside_of_quotes_is_itself_in_logfmt():
    format = declared.logfmt(pa.schema([("path", TEXT), ("user", TEXT)]))
    assert texts_of(rb"path=C:\new\temp user=CORP\nick", format) == {"path": r"C:\new\temp", "user": r"CORP\nick"}
    assert texts_of(rb'path="C:\\new" user="a\"b"', format) == {"path": r"C:\new", "user": 'a"b'}


def test_logfmt_reads_the_escapes_that_json_and_go_write():
    format = declared.logfmt(pa.schema([("a", TEXT), ("b", TEXT)]))
    assert texts_of(rb'a="\u001b[31m\x1B\a\b\f\v\/" b="\u00e9\ufffd\u2028"', format) == {
        "a": "\x1b[31m\x1b\a\b\f\v/",
        "b": "\\u00e9\ufffd\\u2028",
    }


ACCESS = r'::1 - - [10/Oct/2000:13:55:36 -0700] "{}" 400 226 "-" "{}"'


@pytest.mark.parametrize("request_line", ["[", "GET [a HTTP/1.1", "<> [x y", "[::1] [", 'GET ""[ HTTP'])
def test_a_request_line_may_hold_what_opens_a_mark_elsewhere(request_line):
    written = ACCESS.format(request_line.replace('"', '\\"'), "x")
    row = texts_of(written.encode(), declared.combined_log())
    assert [row["method"], row["target"], row["protocol"]] == [*request_line.split(" "), None, None][:3]


def test_access_logs_read_the_escapes_of_apache_and_nginx_and_leave_lone_bytes_as_they_are_written():
    row = texts_of(ACCESS.format(r"GET /\x22q\x22 HTTP", r"a\tb\\n\x5C\xD0\x9f\x5b").encode(), declared.combined_log())
    assert (row["target"], row["agent"]) == ('/"q"', "a\tb\\n\\\\xD0\\x9f[")


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("s", "UTC")])
def test_a_time_of_hl7_may_leave_out_what_it_does_not_know(kind):
    format = declared.hl7(pa.schema([("at", kind)]), {"at": "PID.7"})

    def read(text):
        return texts_of(f"\vPID|1||||||{text}\r\x1c\r".encode(), format)["at"].replace(tzinfo=None)

    day = datetime.datetime(2024, 2, 29)
    assert read("20240229") == day
    assert [read("202402"), read("2024")] == [day.replace(day=1), day.replace(month=1, day=1)]
    assert [read("2024022911"), read("2024022911+0100")] == [day.replace(hour=11), day.replace(hour=10)]


def test_blanks_around_values_of_any_width_are_cut_off(kernel):
    chance = random.Random(4)
    widths = [1, 3, 7, 31, 32, 33, 63, 64, 65, 130, 2, 0]
    schema = pa.schema([(f"c{i}", TEXT) for i in range(len(widths))])
    lines, rows = [], []
    for _ in range(2000):
        cells = []
        for width in widths:
            inside = "".join(chance.choice("ab \t") for _ in range(chance.randrange(width + 1)))
            before = chance.randrange(width - len(inside) + 1)
            cells.append("".join(chance.choice(" \t") for _ in range(before)) + inside)
            cells[-1] += " " * (width - len(cells[-1]))
        whole = "".join(cells)
        line = whole[: chance.choice([len(whole), chance.randrange(1, len(whole))])]
        ends = list(accumulate(widths, initial=0))
        rows.append(tuple(line[a:b].strip(" \t") or None for a, b in pairwise(ends)))
        lines.append(line)
    data = "".join(line + "\n" for line in lines).encode()
    format = declared.fixed_width(schema, widths)
    assert row_tuples([fm.read(data, format)]) == rows
    separated = fm.Delimited(
        schema, levels=[fm.Level(",")], trim=True, paths={f"c{i}": (i,) for i in range(len(widths))}
    )
    joined = "".join(",".join(c or " \t" for c in row) + " \n" for row in rows).encode()
    assert row_tuples([fm.read(joined, separated)]) == rows


def test_messages_may_stand_on_lines_of_their_own():
    format = declared.hl7(pa.schema([("id", TEXT)]), {"id": "PID.1"})
    data = b"\vPID|1\r\x1c\r\n\vPID|2\r\x1c\r\r\n\n\vPID|3\r\x1c\r\n"
    assert fm.read(data, format)["id"].to_pylist() == ["1", "2", "3"]
    with pytest.raises(fm.FormatError, match=r"begins with '\\x0b', found "):
        fm.read(data.replace(b"\n\n\v", b"\n.\v"), format)


def test_either_case_of_a_percent_escapes_digits_is_read():
    format = declared.query_strings(pa.schema([("a", TEXT)]))
    assert texts_of(b"a=%c3%A9%cE%Ba%zz%", format) == {"a": "éκ%zz%"}


@pytest.mark.parametrize(
    "columns", [[3], [3, -1], [3, "x"], [3.5, 2], 5, "ab", {"a": 3, "b": 4}, {"a": (0, 3)}, [1 << 33, 1]]
)
def test_places_that_are_none_are_refused(columns):
    with pytest.raises(fm.OptionError):
        declared.fixed_width(pa.schema([("a", TEXT), ("b", TEXT)]), columns)


@pytest.mark.parametrize("name", ["common_log", "combined_log", "syslog"])
def test_a_column_that_no_line_has_is_refused_with_those_there_are(name):
    with pytest.raises(fm.SchemaError, match=f"{name}: no column 'color'; a line has '.*', '"):
        getattr(declared, name)(pa.schema([("color", TEXT)]))


@pytest.mark.parametrize("path", ["PID.99999999999", "PID[99999999999].1", "PID.3[99999999999]"])
def test_a_position_beyond_all_is_refused_when_the_format_is_made(path):
    with pytest.raises(fm.OptionError, match="does not fit"):
        declared.hl7(pa.schema([("a", TEXT)]), {"a": path})


@pytest.mark.parametrize(
    "path", [3, ("a", 1, 2), (("a", "1"),), (True,), (1.0,), (slice(0, 1, 2),), (slice("a"),), "1.99999999999"]
)
def test_a_path_that_is_none_is_an_option_error(path):
    with pytest.raises(fm.OptionError):
        fm.Delimited(pa.schema([("a", TEXT)]), levels=[fm.Level(","), fm.Level(";")], paths={"a": path})


def test_an_unclosed_mark_is_named():
    with pytest.raises(
        fm.FormatError, match=r"expected a closing '\]' before the end of the record.*the mark opened at byte"
    ):
        fm.read(b"<34>1 - host [app - - - m", declared.syslog())

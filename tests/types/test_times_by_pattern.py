"""Times by patterns of one size: what the loop reads is what the exact way reads, value by value and error by error.

In: patterns; texts by them, mutated. Out: verdicts.
"""

from __future__ import annotations

import datetime
import random

import pyarrow as pa
import pytest

import formatter as fm

PATTERNS = [
    "%d/%b/%Y:%H:%M:%S %z", "%d.%m.%Y %H:%M:%S", "%d-%b-%Y", "%m/%d/%Y", "%H:%M on %d.%m.%Y", "%d.%m.", "%S;%Y%m%d%H%M",
    "%d %B %Y", "%d.%m.%y", "%d.%m.%Y %d", "%Y/%m/%d", "%d%m.%Y",
]  # fmt: skip
KINDS = [pa.timestamp(unit, tz) for unit, tz in (("s", "UTC"), ("ms", None), ("us", "UTC"), ("ns", None))] + [
    pa.date32()
]
ALPHABET = "0123456789 :/.-+zZJaFeb;"


def texts_of(pattern, chance):
    out = []
    for _ in range(700):
        when = datetime.datetime(chance.choice([1, 1677, 1969, 1970, 2024, 2262, 9999]), 1, 1, tzinfo=datetime.UTC)
        when = when.replace(month=chance.randrange(1, 13), day=chance.randrange(1, 29), hour=chance.choice([0, 9, 23]))
        zone = chance.choice(["+0000", "-0730", "+2400", "+0160", "+02:00", "Z"])
        text = when.strftime(pattern.replace("%z", zone).replace("%Y", f"{when.year:04d}"))
        if chance.random() < 0.5:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(ALPHABET) + text[at + chance.randrange(2) :]
        out.append(text)
    return out


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_pattern_reads_by_the_loop_what_it_reads_exactly(pattern, kind, kernel):
    data = "\n".join(texts_of(pattern, random.Random(pattern))).encode()
    schema = pa.schema([("t", kind)])
    exact = fm.Csv(
        schema, timestamp_formats=["no time is written so: %Y", pattern]
    )  # the first one is looked for in the loop
    found = []
    for format in (fm.Csv(schema, timestamp_formats=[pattern]), exact):
        rejects = []
        table = fm.read(data, format, on_error="null", rejects=rejects)
        collected = fm.read(data, format, on_error="collect", rejects=rejects)
        codes = [(r["record"], r["code"]) for part in rejects for r in part.to_pylist()]
        found.append((table["t"].cast(kind).combine_chunks().to_numpy(False).tolist(), len(collected), codes))
    assert found[0] == found[1]
    if pattern in PATTERNS[:2] and kind == KINDS[0]:
        assert found[0][0].count(None) < 500


def test_quoted_and_padded_times_and_null_tokens_keep_what_they_mean():
    texts = [
        '"29/Feb/2024:10:00:00 +0100"',
        " 29/Feb/2024:10:00:00 +0100",
        "29/Feb/2025:10:00:00 +0100",
        "01/Jan/1970:00:00:00 +0000",
    ]
    data = "".join(f"{text},1\n" for text in texts).encode()
    schema = pa.schema([("t", pa.timestamp("s", "UTC")), ("n", pa.int64())])
    format = fm.Csv(schema, timestamp_formats=["%d/%b/%Y:%H:%M:%S %z"], trim=True, nulls=["01/Jan/1970:00:00:00 +0000"])
    found = fm.read(data, format, on_error="null")["t"].cast(pa.timestamp("s")).to_pylist()
    assert found == [datetime.datetime(2024, 2, 29, 9), datetime.datetime(2024, 2, 29, 9), None, None]


@pytest.mark.parametrize("pattern", ["%a %d.%m.%Y", "%A, %d %b %Y", "%d.%m.%Y (%a)"])
def test_a_weekday_is_read_as_strptime_reads_it_which_asks_the_date_alone(pattern):
    days = [datetime.date(2024, 1, day) for day in range(1, 15)]
    written = [day.strftime(pattern) for day in days]
    other_day = "%A" if "%A" in pattern else "%a"
    texts = written + [text.upper() for text in written]
    texts += [day.strftime(pattern.replace(other_day, "tuesday" if other_day == "%A" else "tue")) for day in days]
    texts += [
        "Mo 01.01.2024",
        "Mondy, 01 Jan 2024",
        "01.01.2024 ()",
        "Mon01.01.2024",
        "Mon",
        "Monday",
        "Funday, 01 Jan 2024",
    ]

    def by_strptime(text):
        try:
            return datetime.datetime.strptime(text, pattern).date()
        except ValueError:
            return None

    format = fm.Csv(pa.schema([("d", pa.date32())]), delimiter="\t", timestamp_formats=[pattern])
    found = fm.read("\n".join(texts).encode(), format, on_error="null")["d"]
    assert found.to_pylist() == [by_strptime(text) for text in texts]
    assert found.null_count < len(texts) - len(days)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("%m%d%Y", ["9152024", "09152024", "12312024", "13012024", "0152024", "9322024"]),
        ("%Y %H%M", ["2024 905", "2024 2359", "2024 2460", "2024 5", "2024 240"]),
        ("%Y%j", ["20241", "2024366", "2023365", "2024367", "20240"]),
        (
            "%b %d %Y %I:%M%p",
            ["Jan  1 2024  5:01PM", "Dec 31 2024 10:01AM", "Dec 31 2024\t10:01AM", "Dec31 2024 10:01AM"],
        ),
        ("%b  %d %Y", ["Jan  1 2024", "Jan 31 2024", "Jan 31 2024 ", " Jan 31 2024", "Jan31 2024"]),
    ],
)
def test_numbers_without_a_mark_between_and_runs_of_blanks_are_read_as_strptime_reads_them(pattern, texts):
    def by_strptime(text):
        try:
            return datetime.datetime.strptime(text, pattern)
        except ValueError:
            return None

    format = fm.Csv(pa.schema([("t", pa.timestamp("s"))]), delimiter=";", timestamp_formats=[pattern])
    found = fm.read("\n".join(texts).encode(), format, on_error="null")["t"]
    assert found.to_pylist() == [by_strptime(text) for text in texts]
    assert 0 < found.null_count < len(texts)


def test_a_day_that_its_year_has_not_is_none_though_strptime_takes_it_for_one_of_the_next():
    format = fm.Csv(pa.schema([("t", pa.date32())]), timestamp_formats=["%Y%j"])
    assert fm.read(b"2023366\n2024366\n", format, on_error="null")["t"].to_pylist() == [
        None,
        datetime.date(2024, 12, 31),
    ]


def test_hours_of_half_a_day_and_of_a_whole_one_may_say_the_same():
    format = fm.Csv(pa.schema([("t", pa.time32("s"))]), timestamp_formats=["%H:%M %p"])
    texts = ["1:05 PM", "13:05 PM", "0:05 AM", "12:05 AM", "13:05 AM", "0:05 PM", "12:05 PM"]
    found = fm.read("\n".join(texts).encode(), format, on_error="null")["t"].to_pylist()
    assert [time and time.hour for time in found] == [13, 13, 0, 0, None, None, 12]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("%Y-%m-%d %Z", "'%Z' in"),
        ("%e.%m.%Y", "'%e' in"),
        ("%-d/%m/%Y", "'%-' in"),
        ("%Y%", "'%' in"),
        ("dd.MM.yyyy", "has none"),
    ],
)
def test_a_pattern_that_no_time_can_follow_is_refused(pattern, found):
    schema = pa.schema([("t", pa.date32())])
    for make in (fm.Csv, fm.Json):
        with pytest.raises(fm.OptionError, match=f"timestamp_formats: expected patterns of %Y .*{found}"):
            make(schema, timestamp_formats=[pattern])


def test_a_null_token_that_the_pattern_would_read_is_null():
    kind = fm.Csv(pa.schema([("x", pa.date32())]), nulls=("Jan 01 1900",), timestamp_formats=("%b %d %Y",))
    assert fm.read(b"Jan 01 1900\nFeb 02 2024\n", kind)["x"].null_count == 1

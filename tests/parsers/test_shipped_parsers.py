"""The parsers that come along, text by text, against tables and readings of Python's own.

In: texts. Out: verdicts.
"""

from __future__ import annotations

import datetime
import ipaddress
import random
import uuid
from decimal import Decimal

import pyarrow as pa
import pytest

import formatter as fm
from formatter.parsers.registry import parser_named

POINT = {"x": 30.0, "y": -10.5}
TABLE = {
    "whole_thousands": {"1,234,567": 1234567, "1 234": 1234, "1'234": 1234, "1_234": 1234, "-12": -12, "+7": 7, "0": 0,
                        "007": 7, "9223372036854775807": 2**63 - 1, "9,223,372,036,854,775,808": None, "": None,
                        "12,34": None, ",123": None, "1,234.5": None, "x": None, "1,2345": None, "1234,567": None,
                        "-9,223,372,036,854,775,808": -(2**63), "-9223372036854775809": None, "1\u00a0234\u00a0567": 1234567,
                        "1\u202f234": 1234, "1\u2019234": 1234, "\u22125": -5, "1,234-": -1234, "5 -": -5, "5--": None, "-5-": None,
                        "12,34,567": 1234567, "1,234 567": None, "1  234": None},
    "whole_thousands:,": {"1.234.567": 1234567, "1 234": 1234, "1,234": None, "1.23": None, "-7": -7},
    "thousands": {"1,234.5": 1234.5, "-1 000": -1000.0, "7": 7.0, ".5": None, "1,23.4": None, "1e5": None},
    "thousands:,": {"1.234,5": 1234.5, "1 234,5": 1234.5, "7": 7.0, "1,234.5": None, "1.5": None, "1,234": 1.234},
    "currency": {"$1,234.50": Decimal("1234.50"), "12 EUR": Decimal("12.00"), "-£3": Decimal("-3.00"), "(1.25)": Decimal("-1.25"),
                 "($1,000)": Decimal("-1000.00"), "€ 5": Decimal("5.00"), "USD 7.1": Decimal("7.10"), "1.234": None, "$": None,
                 "1,2": None, "9999999999999999.99": Decimal("9999999999999999.99"), "12345678901234567": None, "EU 5": None,
                 "US$5": Decimal("5.00"), "-$5": Decimal("-5.00"), "$-5": Decimal("-5.00"), "-$-5": None, "₩10": Decimal("10.00"),
                 "5 kr": Decimal("5.00"), "12.50 zł": Decimal("12.50"), "(5": None, "5)": None, "$5-": None},
    "currency:,": {"1.234,50 €": Decimal("1234.50"), "kr 5": Decimal("5.00"), "(1,25)": Decimal("-1.25"), "1,234.50": None},
    "percent": {"12.5%": 0.125, "-3 %": -0.03, "100%": 1.0, "5": None, "%": None, "1.5.2%": None, "1,250%": 12.5, "+5%": 0.05},
    "percent:,": {"12,5 %": 0.125, "12.5%": None, "1.250%": 12.5},
    "hex": {"0xFF": 255, "ff": 255, "0": 0, "FFFFFFFFFFFFFFFF": 2**64 - 1, "0x": None, "g": None, "11111111111111111": None},
    "ipv4": {"10.0.0.1": 10 * 2**24 + 1, "255.255.255.255": 2**32 - 1, "256.0.0.1": None, "1.2.3": None, "01.2.3.4": None},
    "ipv6": {"::1": bytes(15) + b"\x01", "1::g": None, "::ffff:1.2.3.4": bytes(10) + b"\xff\xff\1\2\3\4", "fe80::1%eth0": None},
    "uuid": {"123e4567-e89b-12d3-a456-426614174000": bytes.fromhex("123e4567e89b12d3a456426614174000"),
             "123E4567E89B12D3A456426614174000": bytes.fromhex("123e4567e89b12d3a456426614174000"), "123e4567-e89b": None,
             "123e4567e89b-12d3-a456-426614174000": None},
    "wkt_point": {"POINT (30 -10.5)": POINT, "point(30 -10.5)": POINT, " POINT ( 3e1 -10.5 ) ": POINT, "POINT (+30 -10.5)": POINT,
                  "POINT EMPTY": None, "POINT (1)": None, "POINT (1 2 3)": None, "LINESTRING (1 2)": None},
    "duration": {"PT1H2.5S": datetime.timedelta(hours=1, seconds=2.5), "P1DT1M": datetime.timedelta(days=1, minutes=1),
                 "P2W": datetime.timedelta(weeks=2), "-PT0,5S": datetime.timedelta(seconds=-0.5), "P1Y": None, "P": None,
                 "PT": None, "P1M": None, "PT1.5H": None, "P1DT": None, "P99999999999999D": None},
    "date:%d.%m.%Y": {"29.02.2024": datetime.date(2024, 2, 29), "30.02.2024": None, "2024-02-29": None},
    "timestamp:%d/%m/%y %H:%M": {"29/02/24 10:30": datetime.datetime(2024, 2, 29, 10, 30), "x": None},
    "timestamp:%Y%m%d %H%M %z": {"20240229 1030 +0100": datetime.datetime(2024, 2, 29, 9, 30, tzinfo=datetime.UTC)},
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_texts_read_as_the_table_says(name):
    parser = parser_named(name)
    texts = list(TABLE[name])
    found = parser.values(pa.array([*texts, None], pa.string()))
    assert found.type == parser.arrow_type
    assert dict(zip(texts, found.to_pylist(), strict=False)) == TABLE[name]
    assert found[-1].as_py() is None


def test_another_mark_than_a_point_and_a_comma_is_refused():
    with pytest.raises(fm.OptionError, match=r"decimal mark of '\.' or ',' behind the colon, found ';'"):
        parser_named("thousands:;")


@pytest.mark.parametrize("name", TABLE)
def test_no_texts_and_only_nulls_are_columns_too(name):
    parser = parser_named(name)
    assert parser.values(pa.array([], pa.string())).to_pylist() == []
    assert parser.values(pa.array([None, None], pa.string())).to_pylist() == [None, None]
    assert parser.values(pa.array(["x", "y"], pa.string()).slice(1)).type == parser.arrow_type


@pytest.mark.parametrize("name", TABLE)
def test_hostile_texts_are_values_or_null_never_an_exception(name):
    chance = random.Random(name)
    pool = "".join(TABLE[name]) + "é\0 \t\n-+.,%:()"
    texts = ["".join(chance.choices(pool, k=chance.randrange(12))) for _ in range(5000)]
    assert len(parser_named(name).values(pa.array(texts))) == len(texts)


def test_addresses_and_identifiers_read_as_pythons_own_read_them():
    chance = random.Random(1)
    numbers = [chance.getrandbits(32) for _ in range(2000)]
    texts = pa.array([str(ipaddress.IPv4Address(number)) for number in numbers])
    assert parser_named("ipv4").values(texts).to_pylist() == numbers
    wide = [chance.getrandbits(128) & chance.getrandbits(128) for _ in range(500)]
    texts = pa.array([str(ipaddress.IPv6Address(number)) for number in wide])
    assert parser_named("ipv6").values(texts).to_pylist() == [number.to_bytes(16, "big") for number in wide]
    made = [uuid.UUID(int=number) for number in wide]
    assert parser_named("uuid").values(pa.array(list(map(str, made)))).to_pylist() == [one.bytes for one in made]


def test_a_pattern_that_is_none_is_refused():
    schema = pa.schema([pa.field("d", pa.date32(), metadata={"parser": "date:%Q"})])
    with pytest.raises(fm.OptionError, match="expected a pattern of strptime"):
        fm.read(b"1\n", fm.Csv(schema))

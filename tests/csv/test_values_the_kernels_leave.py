"""Numbers of many digits, exponents, quotes and decimals: what the fast loops decline is read at once, and still exactly."""

import random
import struct
from decimal import Context, Decimal

import pyarrow as pa
import pytest

import formatter as fm
from formatter import FormatError

COUNT = 20_000
WIDE = Context(prec=100)


def column(texts: list[str], kind: pa.DataType, **options) -> list:
    return fm.read("\n".join(texts).encode() + b"\n", fm.Csv(pa.schema([("x", kind)]), **options))["x"].to_pylist()


def random_double(rng: random.Random) -> float:
    while True:
        value = struct.unpack("<d", rng.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            return value


@pytest.mark.parametrize("places", range(15, 20))
def test_floats_of_many_digits_are_rounded_as_python_rounds_them(places):
    rng = random.Random(places)
    texts = [f"{rng.uniform(-1, 1) * 10.0 ** rng.randint(-60, 60):.{places}e}" for _ in range(COUNT)]
    texts += [f"{rng.uniform(-1e6, 1e6):.{places - 6}f}" for _ in range(COUNT)]
    texts += [repr(random_double(rng)) for _ in range(COUNT)]
    texts += [f"{rng.getrandbits(64)}e{rng.randint(-60, 60)}" for _ in range(COUNT)]
    assert column(texts, pa.float64()) == [float(text) for text in texts]


def test_floats_half_way_between_two_doubles_are_decided_by_all_their_digits():
    texts = []
    for exponent in range(-1000, 1000, 7):
        low = 2.0**exponent
        exact = Decimal(low) + (Decimal(low * (1 + 2.0**-52)) - Decimal(low)) / 2
        texts += [f"{exact:e}", f"{exact:.18e}", f"{exact:.17e}"]
    texts += ["9007199254740993", "9007199254740992.5", "9007199254740993.0000000000001", "1.00000005960464477539062"]
    assert column(texts, pa.float64()) == [float(text) for text in texts]


def test_float32_is_rounded_once():
    rng = random.Random(1)
    texts = [f"{rng.uniform(-1, 1) * 10.0 ** rng.randint(-44, 37):.{rng.randint(5, 18)}e}" for _ in range(COUNT)]
    texts += [
        "16777217",
        "16777217.0000000001",
        "1.00000005960464477539",
        "1.00000005960464477540",
        "3.4028235e38",
        "1e-45",
    ]
    expected = [pa.scalar(Decimal(text)).as_py() for text in texts]
    for text, value in zip(expected, column(texts, pa.float32()), strict=True):
        gap = [abs(Decimal(near) - text) for near in neighbours(value)]
        assert abs(Decimal(value) - text) <= min(gap), text


def neighbours(value: float) -> list[float]:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    near = [bits - 1 if bits & 0x7FFFFFFF else 0x80000001, bits + 1]
    values = [struct.unpack("<f", struct.pack("<I", n))[0] for n in near]
    return [v for v in values if abs(v) != float("inf")] or [value]


def test_numbers_in_quotes_are_those_without():
    rng = random.Random(2)
    values = [rng.choice([rng.randint(-9, 9), rng.randint(-(10**12), 10**12)]) for _ in range(COUNT)]
    for ending in ("\n", "\r\n"):
        data = ending.join(f'"{v}","{v}.25","2024-01-{v % 28 + 1:02d}"' for v in values).encode() + ending.encode()
        schema = pa.schema([("i", pa.int64()), ("f", pa.float64()), ("d", pa.date32())])
        bare = fm.read(data.replace(b'"', b""), fm.Csv(schema))
        assert fm.read(data, fm.Csv(schema)).equals(bare)
        assert bare["i"].to_pylist() == values


def test_a_column_that_stops_being_quoted_or_well_formed_is_still_read_by_the_rules():
    good = ['"1"'] * 5_000 + ["2"] * 5_000 + ['"3"'] * 5_000
    assert column(good, pa.int64()) == [1] * 5_000 + [2] * 5_000 + [3] * 5_000
    bad = ['"1"'] * 5_000 + ['"1"2"', '""', '"', '" 1"', '"1', '1"'] + ['"4"'] * 10
    data = "\n".join(bad).encode() + b'"\n' + b"5\n"
    rejects: list[pa.Table] = []
    table = fm.read(data, fm.Csv(pa.schema([("x", pa.int64())])), on_error="collect", rejects=rejects)
    outcome = (table["x"].to_pylist(), [(r["record"], r["code"]) for r in rejects[0].to_pylist()])
    rejects = []
    exact = fm.Csv(pa.schema([("x", pa.int64())]), trim=False, nulls=("", "no such token"))
    again = fm.read(data, exact, on_error="collect", rejects=rejects)
    assert outcome == (again["x"].to_pylist(), [(r["record"], r["code"]) for r in rejects[0].to_pylist()])
    assert outcome[0][:5_000] == [1] * 5_000
    assert "stray_quote" in {code for _, code in outcome[1]}


def test_a_null_token_that_reads_as_a_number_stays_null():
    assert column(["1.5", "nan", "1e300", "inf", '"nan"'] * 100, pa.float64(), nulls=("nan", "1e300"))[:4] == [
        1.5,
        None,
        None,
        float("inf"),
    ]


@pytest.mark.parametrize(("precision", "scale"), [(5, 2), (18, 2), (18, 0), (19, 3), (38, 10), (3, 3)])
def test_decimals_of_every_size_are_exact(precision, scale):
    rng = random.Random(precision)
    values = [Decimal(f"{rng.randint(-(10**precision) + 1, 10**precision - 1)}e-{scale}") for _ in range(3_000)]
    values += [Decimal(f"{10**precision - 1}e-{scale}"), Decimal(f"{-(10**precision) + 1}e-{scale}"), Decimal(0)]
    assert column([f"{v:f}" for v in values], pa.decimal128(precision, scale)) == values
    assert column(["+1.0", "0.", "00000000000000000000.1"] if scale else ["+1", "0.", "0.0"], pa.decimal128(38, 10))
    for text, code in [
        (f"1{'0' * (precision - scale)}", "overflow"),
        (f"0.{'0' * scale}1", "precision"),
        ("1e1", "invalid"),
    ]:
        with pytest.raises(FormatError) as raised:
            column([text], pa.decimal128(precision, scale))
        assert raised.value.code == code


@pytest.mark.parametrize("scale", [0, 1, 9, 19, 36, 37, 38, -3])
@pytest.mark.parametrize("wide", [pa.decimal128, pa.decimal256])
def test_a_decimal_of_more_digits_than_there_may_be_overflows_whatever_is_left_of_them_in_128_bits(scale, wide, kernel):
    rng = random.Random(scale)
    kind = wide(38, scale)
    for form in (fm.Csv, fm.Json):
        for _ in range(200):
            digits = "".join(
                rng.choices("0123456789", k=rng.randint(36, 42) - max(scale, 0) + rng.randint(0, max(scale, 0)))
            )
            whole = rng.choice("123456789") + digits
            point = rng.randint(1, len(whole))
            text = whole[:point] + rng.choice(["", "." + whole[point:] if whole[point:] else ""])
            data = f"{text}\n" if form is fm.Csv else f'{{"x":{text}}}\n'
            (found,) = fm.read(data.encode(), form(pa.schema([("x", kind)])), on_error="null")["x"].to_pylist()
            unscaled = Decimal(text).scaleb(scale, WIDE)
            fits = unscaled == unscaled.to_integral_value(context=WIDE) and abs(unscaled) < 10**38
            assert found == (Decimal(text) if fits else None), (text, form)


@pytest.mark.parametrize("quoted", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.float16(), pa.bool_(), pa.decimal128(5, 1)])
def test_a_quoted_null_token_that_reads_as_a_number_is_null_however_many_fields_are_quoted(kind, quoted):
    texts = ["'0'"] + ["'1'"] * quoted + ["1"] * (3 - quoted) + ["0"]
    read = column(texts, kind, quote="'", nulls=("0",), quoted_nulls=True)
    assert [value is None for value in read] == [True, False, False, False, True]
    assert column([f" {text}" for text in texts], kind, quote="'", nulls=("0",), quoted_nulls=True, trim=True) == read


@pytest.mark.parametrize("seed", range(3))
def test_floats_of_more_digits_than_a_word_holds_are_rounded_as_python_rounds_them(seed):
    rng = random.Random(seed)

    def digits(most: int) -> str:
        return "".join(rng.choices("0123456789", k=rng.randrange(most)))

    texts = [f"{rng.randrange(10)}{digits(50)}.{digits(50)}" for _ in range(COUNT)]
    texts += [f".{'0' * rng.randrange(30)}{rng.randrange(10)}{digits(50)}" for _ in range(COUNT)]
    texts += [f"-{rng.randrange(10)}{digits(40)}.{digits(9)}e{rng.randint(-340, 290)}" for _ in range(COUNT)]
    texts += [f"{2**53 + 2 * n + 1}{rng.choice(['', '.', '.0', '.' + '0' * 30 + '1'])}" for n in range(COUNT)]
    wanted = [float(text) for text in texts]
    texts, wanted = zip(*((t, v) for t, v in zip(texts, wanted, strict=True) if abs(v) != float("inf")), strict=True)
    assert column(list(texts), pa.float64()) == list(wanted)


def test_times_of_day_and_dates_without_marks_read_among_others_as_alone():
    rng = random.Random(5)
    clocks = [f"{rng.randrange(26):02}:{rng.randrange(62):02}:{rng.randrange(62):02}" for _ in range(2000)]
    clocks = [clock + rng.choice(["", "", ".", ".5", ".123", ".1234567", "Z", ":", "/"]) for clock in clocks]
    clocks += ["1:02:03", "10:20", "102030", "", "::", "10:20:3\xff", "/0:00:00", "0;:00:00", "00:00:00.9999999999"]
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        assert_read_as_alone(clocks, kind)
    dates = [f"{rng.randrange(2030):04}{rng.randrange(14):02}{rng.randrange(33):02}" for _ in range(2000)]
    assert_read_as_alone([*dates, "2024-02-29", "2024022", "202402290", "2024022x"], pa.date32())


def assert_read_as_alone(texts: list[str], kind: pa.DataType) -> None:
    """The same in quotes, which are read exactly, with one bad value in each read; in both, what cannot be read is null."""
    format = fm.Csv(pa.schema([("x", kind), ("n", pa.int8())]))
    together = fm.read("".join(f"{text},1\n" for text in texts).encode(), format, on_error="null")["x"]
    for n, text in enumerate(texts[::7]):
        alone = fm.read(f'"{text}",1\n12:00:00,2\n2024-01-01,3\n'.encode(), format, on_error="null")["x"]
        assert together[7 * n] == alone[0], text

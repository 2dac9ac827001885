"""A million random floats of every magnitude and spelling: the same bits as Python's float(), under every kernel."""

import random
import struct
from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest

import formatter as fm

COUNT = 1_000_000
SEED = 20_240_229


def short_decimals(source: np.random.Generator, count: int) -> list[str]:
    """What files hold: few digits, a point somewhere, sometimes a sign."""
    whole = source.integers(-(10**9), 10**9, count) // 10 ** source.integers(0, 9, count)
    digits = source.integers(0, 7, count)
    fraction = source.integers(0, 10**6, count)
    return [
        f"{w}.{f:06d}"[: len(str(w)) + 1 + d] if d else str(w)
        for w, f, d in zip(whole.tolist(), fraction.tolist(), digits.tolist(), strict=True)
    ]


def any_bits(source: np.random.Generator, count: int) -> list[str]:
    """Every exponent equally likely, subnormals included, in the shortest text that gives them back."""
    values = source.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    return [repr(value) for value in values[np.isfinite(values)].tolist()]


def long_digits(source: np.random.Generator, count: int) -> list[str]:
    """1 to 40 digits with a point anywhere and an exponent that keeps them in range."""
    generator = random.Random(int(source.integers(2**32)))
    texts = []
    for _ in range(count):
        length = generator.randint(1, 40)
        digits = str(generator.randrange(10**length)).zfill(length)
        point = generator.randint(0, length)
        exponent = generator.randint(-330, 265)
        texts.append(f"{digits[:point]}.{digits[point:]}e{exponent}")
    return texts


def halfway(source: np.random.Generator, count: int) -> list[str]:
    """Exactly between two floats, and a hair to either side: hundreds of digits decide."""
    values = source.integers(0, 0x7FE0_0000_0000_0000, count // 3).tolist()
    texts = []
    with localcontext(prec=1200):
        for bits in values:
            low, high = struct.unpack("<2d", struct.pack("<2Q", bits, bits + 1))
            middle = (Decimal(low) + Decimal(high)) / 2
            text = f"{middle:e}"
            mantissa, exponent = text.split("e")
            mantissa += "" if "." in mantissa else ".0"
            texts += [text, f"{mantissa}0000001e{exponent}", f"{mantissa[:-1]}{_less(mantissa[-1])}e{exponent}"]
    return texts


def _less(digit: str) -> str:
    return "49" if digit == "5" else str(max(int(digit) - 1, 0)) + "9"


@pytest.fixture(scope="module")
def million() -> tuple[bytes, np.ndarray]:
    source = np.random.default_rng(SEED)
    texts = short_decimals(source, COUNT * 4 // 10)
    texts += long_digits(source, COUNT * 3 // 10)
    texts += halfway(source, 12_000)
    texts += any_bits(source, COUNT - len(texts) + 2_000)
    assert len(texts) >= COUNT
    random.Random(SEED).shuffle(texts)
    return "\n".join(texts).encode(), np.array([float(text) for text in texts])


@pytest.mark.slow
def test_a_million_random_floats_have_the_bits_python_gives_them(kernel, million):
    data, expected = million
    found = fm.read(data, fm.Csv(pa.schema([("v", pa.float64())])))["v"]
    assert found.null_count == 0
    bits = found.combine_chunks().to_numpy().view(np.uint64)
    wrong = np.flatnonzero(bits != expected.view(np.uint64))
    assert not len(wrong), [(data.split(b"\n")[row], expected[row]) for row in wrong[:5]]


def test_floats_in_the_middle_of_a_record_have_the_bits_python_gives_them(kernel):
    source = np.random.default_rng(SEED)
    texts = [*short_decimals(source, 20_000), *long_digits(source, 5_000), *halfway(source, 900)]
    random.Random(SEED).shuffle(texts)
    data = "".join(f"{row},{text},x\n" for row, text in enumerate(texts)).encode()
    schema = pa.schema([("row", pa.int64()), ("v", pa.float64()), ("x", pa.string())])
    found = fm.read(data, fm.Csv(schema), columns=["v"])["v"].combine_chunks().to_numpy()
    assert (found.view(np.uint64) == np.array([float(text) for text in texts]).view(np.uint64)).all()

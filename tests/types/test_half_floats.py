"""16-bit floats are rounded once, from the text to the type: every value, every tie and a hair to either side of it.

In: texts. Out: the half that exact arithmetic says, or overflow, in CSV, JSON and binary rows, under every kernel.
"""

from __future__ import annotations

import struct
from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest

import formatter as fm

HALF = pa.schema([("h", pa.float16())])
OVERFLOW_FROM = Decimal(65520)  # half way between the largest half and the next one that there is not
EVERY = [value for value in np.arange(2**15, dtype=np.uint16).view(np.float16).tolist() if value < float("inf")]


def texts() -> list[str]:
    """Each half, the tie above it and its neighbours, written in two ways."""
    written = []
    with localcontext(prec=60):
        for low, high in zip(EVERY, [*EVERY[1:], 65536.0], strict=True):
            tie = (Decimal(low) + Decimal(high)) / 2
            hair = Decimal("1e-45")
            written += [f"{Decimal(low):f}", f"{tie:e}", f"{tie + hair:f}", f"-{tie - hair:.59e}", f"-{tie:f}"]
    return written


def rounded(text: str) -> float | None:
    """By exact comparison with the ties on either side; None beyond the type."""
    with localcontext(prec=80):
        exact = Decimal(text)
        size = abs(exact)
        if size >= OVERFLOW_FROM:
            return None
        near = float(np.float16(min(float(size), EVERY[-1])))
        for _ in range(2):
            bits = struct.unpack("H", struct.pack("e", near))[0]
            below = np.array([max(bits - 1, 0)], np.uint16).view(np.float16).tolist()[0]
            above = np.array([bits + 1], np.uint16).view(np.float16).tolist()[0]
            above = 65536.0 if above == float("inf") else above
            low_tie, high_tie = (Decimal(below) + Decimal(near)) / 2, (Decimal(near) + Decimal(above)) / 2
            if bits and (size < low_tie or (size == low_tie and bits % 2)):
                near = below
            elif size > high_tie or (size == high_tie and bits % 2):
                near = above
    return -near if exact.is_signed() else near


def bits_of(values: list[float | None]) -> list[int | None]:
    return [None if value is None else struct.unpack("H", struct.pack("e", value))[0] for value in values]


def test_every_text_is_rounded_once_to_a_half(kernel):
    written = texts()
    expected = bits_of([rounded(text) for text in written])
    csv = fm.read("\n".join(written).encode(), fm.Csv(HALF), on_error="null")["h"].to_pylist()
    assert bits_of(csv) == expected
    lines = "".join(f'{{"h": {text}}}\n' for text in written).encode()
    assert bits_of(fm.read(lines, fm.Json(HALF), on_error="null")["h"].to_pylist()) == expected


def test_a_number_beyond_halves_is_an_overflow_and_infinity_is_written_out():
    for text in ("65520", "70000", "1e400", "-65520.0"):
        with pytest.raises(fm.FormatError) as error:
            fm.read(text.encode(), fm.Csv(HALF))
        assert error.value.code == "overflow", text
    found = fm.read(b"65519.9999999999999999\n-inf\nnan\n1e-60\n", fm.Csv(HALF))["h"].to_pylist()
    assert [repr(value) for value in found] == ["65504.0", "-inf", "nan", "0.0"]


def test_halves_of_binary_rows_keep_their_bits_in_either_byte_order():
    images = np.array([0, 1, 0x8000, 0x3C00, 0x7BFF, 0x7C00, 0xFC01, 0x7E2A], np.uint16)
    for endian, order in (("little", "<u2"), ("big", ">u2")):
        table = fm.read(images.astype(order).tobytes(), fm.Native(HALF, endian=endian))
        assert table["h"].chunk(0).to_numpy().view(np.uint16).tolist() == images.tolist()

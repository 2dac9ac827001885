"""The start of an input as inference looks at it. In: a source. Out: its first bytes as UTF-8 or in a code page of one byte a
character, and how the input is encoded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from formatter.errors import OptionError
from formatter.sources import Source, inputs

SAMPLE_BYTES = 4 << 20
LONGER = 3  # times as many bytes, as windows grow, where the first record does not end in the usual ones
LONGEST_SAMPLE = (
    SAMPLE_BYTES * LONGER
)  # an object of a hundred thousand keys is looked at for seconds: more are no record
SHORT_BYTES = 256  # of an input in which one byte that is no UTF-8 is no exception
_LONE = re.compile("[\udc80-\udcff]")
_OBJECT = re.compile(rb"[\[\s]*\{\s*(\"[^\"\n]*\"\s*:|\})")


@dataclass
class Sample:
    """`data` is the text in `charset`: UTF-8, or the bytes as they are where each is a character."""

    data: bytes
    whole: bool
    encoding: str = "utf-8"  # of the input
    errors: str = "strict"  # what becomes of bad bytes
    charset: str = "utf-8"
    why: str = "all of it is UTF-8"
    doubts: list[str] = field(default_factory=list)


def take_bytes(
    source: Source, codec: str | None, enough: Callable[[bytes], bool] = lambda data: True
) -> tuple[bytes, bool]:
    """The first bytes, and whether they are all there are. `enough`: of so many that do not end the input; else more are taken."""
    first = next(iter(inputs(source, codec)), None)
    if first is None:
        raise OptionError("source: expected one input or more, found none")
    if first.contiguous:
        data: Any = first.data  # type: ignore[attr-defined]
        size = SAMPLE_BYTES
        while size < min(len(data), LONGEST_SAMPLE) and not enough(bytes(data[:size])):
            size *= LONGER
        return bytes(data[:size]), len(data) <= size
    with closing(first.windows(SAMPLE_BYTES)) as windows:
        window, whole = next(windows)
        while not whole and len(window) < LONGEST_SAMPLE and not enough(bytes(window)):
            window, whole = windows.send(0)
        return bytes(window), whole


def looks_like_json(data: bytes) -> bool:
    """Whether a JSON object, or an array of them, begins here."""
    return _OBJECT.match(data.removeprefix(codecs.BOM_UTF8)) is not None


def decoded(data: bytes, whole: bool) -> Sample:
    """The sample with its encoding found."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _utf16(data, whole, "utf-16", "its byte order mark says so")
    head = data[:4096]
    zeros = [head[side::2].count(0) for side in (0, 1)]
    if 4 * max(zeros) > len(head) and min(zeros) * 8 < max(zeros):
        encoding = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        why = f"every other byte is 0 ({max(zeros)} of the first {len(head)}) and there is no mark: taken as {encoding}"
        sample = _utf16(data, whole, encoding, why)
        sample.doubts.append(why)
        return sample
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
    except UnicodeDecodeError as error:
        return _not_all_utf8(data, whole, error)
    return Sample(data, whole)


def _utf16(data: bytes, whole: bool, encoding: str, why: str) -> Sample:
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data, final=whole)
    return Sample(text.encode("utf-8", "replace"), whole, encoding, why=why)


def _not_all_utf8(data: bytes, whole: bool, error: UnicodeDecodeError) -> Sample:
    """A code page where no character beyond ASCII is UTF-8; else the bad bytes are the exception."""
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(data, final=whole)
    bad = _LONE.findall(text)
    good = sum(not c.isascii() for c in text) - len(bad)
    around = data[max(0, error.start - 10) : error.start + 10]
    found = f"byte {error.start} is no UTF-8 (in {around!r})"
    if len(bad) > 2 * good and (len(bad) > 1 or (whole and len(data) <= SHORT_BYTES)):
        controls = any(c < "\udca0" for c in bad)
        encoding = "cp1252" if controls else "latin-1"
        more = f", nor are {len(bad) - 1} more" if len(bad) > 1 else ""
        why = f"{found}{more}: taken as {encoding}"
        return Sample(data, whole, encoding, charset=encoding, why=why, doubts=[why])
    letters = all(c >= "\udca0" for c in bad)
    errors = "latin-1" if letters else "replace"
    meant = "taken as latin-1" if letters else "replaced"
    more = f" and {len(bad) - 1} more bytes" if len(bad) > 1 else ""
    why = f"{found}{more}, though the rest is: values with bad bytes are {meant}"
    return Sample(data, whole, "utf-8", errors, why=why, doubts=[why])

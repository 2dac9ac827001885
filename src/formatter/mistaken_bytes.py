"""What bytes are that were taken for text of another kind. In: the first bytes of a record, the format. Out: the option that reads
them, in words, or nothing.

Refuses to know: where the bytes stand; whoever asks knows that they begin an input, or are a whole record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from formatter.formats import Csv, Json
from formatter.formats.checks import as_bytes

# By what an input begins with.
COMPRESSED = {
    **{b"BZh%d1AY&SY" % level: "bz2" for level in range(1, 10)},
    b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\x00": "xz", b"\xff\x06\x00\x00sNaPpY": "snappy",
}  # fmt: skip
NO_TEXT = {b"PAR1": "Parquet", b"ARROW1\x00\x00": "Arrow's file format", b"PK\x03\x04": "a zip archive"}
UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
UTF16_LOOKED_AT = 64  # bytes: half of them are NUL in most texts
ENDS_LOOKED_AT = 64  # bytes of a record, white space and all
ENDS_IN_RETURN = "its lines seem to end in a lone '\\r': set record_delimiter='\\r'"
DELIMITERS = (b",", b";", b"\t", b"|")


def mistaken_start(start: bytes, format: object) -> str:
    """Of an input's first bytes."""
    for begin, codec in COMPRESSED.items():
        if start.startswith(begin):
            return f"it begins as {codec} does: set codec={codec!r}, or decompress what is pushed"
    for begin, kind in NO_TEXT.items():
        if start.startswith(begin):
            return f"it begins as {kind} does, which is no text"
    encoding = _utf16_of(start)
    if encoding and isinstance(format, Csv):
        return "" if format.encoding in (encoding, "utf-16") else f"it looks like UTF-16: set encoding={encoding!r}"
    if encoding:
        return "it looks like UTF-16: transcode it to UTF-8"
    line = start.split(b"\n", 1)[0].strip()
    if isinstance(format, Csv) and line.startswith(b'{"') and line.endswith(b"}"):
        return "it looks like JSON: read it with fm.Json"
    if isinstance(format, Csv) and has_lone_return(start, format):
        return ENDS_IN_RETURN
    return ""


def has_lone_return(start: bytes, format: Csv) -> bool:
    """Whether a carriage return that is no part of a record end stands in the first line, outside quotes: as in files whose lines
    all end in one."""
    if as_bytes(format.record_delimiter, "record_delimiter") != b"\n" or format.encoding.startswith("utf-16"):
        return False
    before, lone, _ = start.split(b"\n", 1)[0].rstrip(b"\r").partition(b"\r")
    quote = as_bytes(format.quote, "quote") if format.quote else b""
    return bool(lone) and not (quote and before.count(quote) % 2)


def mistaken_record(code: str, found: bytes, raw: bytes, format: object) -> str:
    """Of a record that is wrong as a whole."""
    if isinstance(format, Json) and format.records == "lines":
        if code == "not_an_object" and raw[:ENDS_LOOKED_AT].lstrip().startswith(b"["):
            return "set records='array' for the items of an array"
        if code == "trailing_data" and found.lstrip(b", ").startswith((b"{", b"[")):
            return "set records='concatenated' for objects one behind the other"
        if (
            code in ("malformed", "unterminated_quote")
            and not found.strip()
            and raw[-ENDS_LOOKED_AT:].rstrip()[-1:] in (b"{", b"[", b",", b":")
        ):
            return "set records='concatenated' for objects of several lines"
    return ""


def other_delimiter(record: bytes, fields: int, format: object) -> str:
    """Of a record with one field where there should be several: what may separate them."""
    if not isinstance(format, Csv) or fields < 2:
        return ""
    taken = as_bytes(format.delimiter, "delimiter")
    for delimiter in DELIMITERS:
        if delimiter != taken and record.count(delimiter) == fields - 1:
            return f"set delimiter={delimiter.decode()!r}"
    return ""


def mistaken_header(header: bytes, wanted: Sequence[str], format: Csv) -> str:
    """Of the lines that name the columns, where some of those wanted are not named."""
    delimiter = as_bytes(format.delimiter, "delimiter")
    quote = as_bytes(format.quote, "quote") if format.quote else b""
    for other in (each for each in DELIMITERS if each != delimiter and delimiter not in header):
        if other in header and {*_names(header, other, quote)} & {*wanted}:
            return f"set delimiter={other.decode()!r}"
    names = _names(header, delimiter, quote)
    for option, alike in _ALIKE.items():
        if {alike(name) for name in wanted} <= {alike(name) for name in names}:
            return f"set {option}"
    return ""


def names_the_column(found: bytes, name: str, format: object) -> bool:
    """Whether a value of the first record is the name of its column: a header that was read as data."""
    if not isinstance(format, Csv) or format.header is not False:
        return False
    quote = as_bytes(format.quote, "quote") if format.quote else b""
    (said,) = _names(found, b"\n", quote)
    return said.strip().lower() == name.strip().lower()


_ALIKE: dict[str, Callable[[str], str]] = {
    "trim_names=True": str.strip,
    "names_in_any_case=True": str.lower,
    "trim_names=True, names_in_any_case=True": lambda name: name.strip().lower(),
}


def _names(header: bytes, delimiter: bytes, quote: bytes) -> list[str]:
    cut = header.split(b"\n")[0].split(delimiter)
    return [
        field.strip(quote).decode("utf-8", "replace") if quote else field.decode("utf-8", "replace") for field in cut
    ]


def _utf16_of(start: bytes) -> str | None:
    if start[:2] in UTF16_MARKS:
        return UTF16_MARKS[start[:2]]
    looked_at = start[:UTF16_LOOKED_AT]
    for place, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        nuls = looked_at[place::2].count(0)
        if nuls > 1 and 2 * nuls > len(looked_at[place::2]) and not looked_at[1 - place :: 2].count(0):
            return encoding
    return None

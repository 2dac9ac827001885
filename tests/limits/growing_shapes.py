"""Inputs that grow in one way each, and what is done with them: eight times the input may take eight times the effort, not
sixty-four times.

In: a size in bytes. Out: work to be measured. Refuses to know: how effort is measured.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable

import pyarrow as pa

import formatter as fm

Work = Callable[[], object]
TWO = pa.schema([("a", pa.string()), ("n", pa.int64())])
DICTIONARY = pa.schema([("a", pa.dictionary(pa.int32(), pa.string())), ("n", pa.int64())])
NESTED = pa.schema(
    [("a", pa.list_(pa.int64())), ("m", pa.map_(pa.string(), pa.int64())), ("s", pa.struct([("x", pa.string())]))]
)
NUMBERS = pa.schema([("d", pa.decimal128(38, 9)), ("f", pa.float64()), ("t", pa.timestamp("ns"))])
FRAMED = fm.Framed(fm.Native(pa.schema([("n", pa.int64()), ("a", pa.string())])), length="u32le")
BUFFER = 64


def csv(**options: object) -> fm.Csv:
    return fm.Csv(TWO, **options)


def repeated(unit: bytes, size: int) -> bytes:
    return unit * (size // len(unit) + 1)


def numbered(unit: str, size: int) -> bytes:
    """`unit` with a number in it, as often as it takes."""
    return "".join(unit % i for i in range(size // len(unit) + 1)).encode()


WRAPPED = fm.Json(TWO, records="/r/*")
ONE_RECORD = b'{"of":7,"r":[{"n":1}]}\n'


def json_array(n: int) -> bytes:
    return b"[" + numbered('{"a":"text %07d"},', n) + b"{}]"


def text_behind(n: int) -> bytes:
    return b'{"r":[{"n":1}],"of":[' + repeated(b'{"n":1},', n) + b"1]}"


def whole(data: bytes, format: fm.Csv | fm.Json | fm.Framed, **options: object) -> Work:
    return lambda: fm.read(data, format, **{"threads": 1, "on_error": "skip", **options})


def named_columns(count: int) -> Work:
    names = [f"c{i}" for i in range(count)]
    schema = pa.schema([(name, pa.int64()) for name in names])
    return lambda: fm.read(b'{"c1":1}\n', fm.Json(schema), threads=1, columns=names)


def opened(data: bytes, format: fm.Csv | fm.Json) -> Work:
    return lambda: fm.open(data, format, threads=1, on_error="skip").read_all()


def streamed(
    data: bytes, format: fm.Csv | fm.Json | fm.Framed, order: str = "in order", size: int = BUFFER, **options: object
) -> Work:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    sequences = list(range(1, len(pieces) + 1))
    if order == "backwards":
        sequences.reverse()
    if order == "odd first":
        sequences = sequences[::2] + sequences[1::2]

    def work() -> None:
        stream = fm.Stream(format, on_error="skip", **options)
        for sequence in sequences:
            stream.push(pieces[sequence - 1], sequence=sequence)
        with contextlib.suppress(fm.FormatError):  # a header that never ends
            stream.finish()

    return work


def inferred(data: bytes, kind: str = "csv") -> Work:
    def work() -> None:
        with warnings.catch_warnings(), contextlib.suppress(fm.FormatterError, ValueError):
            warnings.simplefilter("ignore")
            fm.infer(data, kind)

    return work


def shredded(order: Callable[[int], list[int]], delimited: Callable[[int], bool]) -> Callable[[int], Work]:
    def of_size(size: int) -> Work:
        sequences = order(size // 16)

        def work() -> None:
            shredder = fm.SequenceShredder()
            for sequence in sequences:
                shredder.process(sequence, delimited(sequence))

        return work

    return of_size


FIFTY = [f"text {i:07d}" for i in range(50)]

SHAPES: dict[str, Callable[[int], Work]] = {
    # whole inputs of one kind
    "csv: plain rows": lambda n: whole(numbered("text %07d,7\n", n), csv()),
    "csv: quoted fields": lambda n: whole(numbered('"te,xt %07d",7\n', n), csv()),
    "csv: doubled quotes": lambda n: whole(numbered('"te""xt"" %07d",7\n', n), csv()),
    "csv: escapes": lambda n: whole(numbered('"te\\"xt %07d",7\n', n), csv(escape="\\")),
    "csv: blank lines": lambda n: whole(repeated(b"\n", n), csv()),
    "csv: comments": lambda n: whole(repeated(b"#c\n", n), csv(comment="#")),
    "csv: too few fields": lambda n: whole(repeated(b"x\n", n), csv()),
    "csv: too many fields": lambda n: whole(repeated(b"x,1,2,3\n", n), csv()),
    "csv: values that cannot be read": lambda n: whole(repeated(b"x,y\n", n), csv()),
    "csv: rejects": lambda n: whole(repeated(b"x,y\n", n // 8), csv(), on_error="collect", rejects=[]),
    "csv: one record of many fields": lambda n: whole(repeated(b"x,", n) + b"\n", csv()),
    "csv: one field of many quotes": lambda n: whole(b'"' + repeated(b'""', n) + b'",1\n', csv()),
    "csv: one field of many escapes": lambda n: whole(repeated(b"\\x", n) + b",1\n", csv(escape="\\")),
    "csv: a quote that never closes": lambda n: whole(b'"' + repeated(b"x\n", n), csv()),
    "csv: quotes that open and close": lambda n: whole(repeated(b'"\n', n), csv()),
    "csv: stray quotes": lambda n: whole(repeated(b'x"y,1\n', n), csv()),
    "csv: delimiters of several bytes": lambda n: whole(repeated(b"x||1\n", n), csv(delimiter="||")),
    "csv: beginnings of a delimiter": lambda n: whole(repeated(b"|x|", n) + b"||1\n", csv(delimiter="||")),
    "csv: beginnings of a record's end": lambda n: whole(repeated(b"abab", n) + b"abc", csv(record_delimiter="ababc")),
    "csv: null markers": lambda n: whole(repeated(b"NULL,NULL\n", n), csv(nulls=tuple(f"N{i}" for i in range(20)))),
    "csv: dictionary of new texts": lambda n: whole(numbered("text %07d,7\n", n), fm.Csv(DICTIONARY)),
    "csv: dictionary of one text": lambda n: whole(repeated(b"text,7\n", n), fm.Csv(DICTIONARY)),
    "csv: numbers of many digits": lambda n: whole(b"1" * n + b"," + b"1" * n + b",2024-01-01\n", fm.Csv(NUMBERS)),
    "csv: numbers in every spelling": lambda n: whole(repeated(b"1.25,1e-300,2024-02-29T01:02:03.5Z\n", n), fm.Csv(NUMBERS)),
    "csv: zeros in front": lambda n: whole(b"0" * n + b"," + b"0" * n + b".5,2024-01-01\n", fm.Csv(NUMBERS)),
    "csv: UTF-16": lambda n: whole(numbered("text %07d,7\n", n).decode().encode("utf-16-le"), csv(encoding="utf-16-le")),
    "csv: latin-1": lambda n: whole(repeated("é,7\n".encode("latin-1"), n), csv(encoding="latin-1")),
    "csv: a header of many names": lambda n: whole(numbered("c%05d,", n) + b"a,n\n", csv(header=True)),
    "csv: filtered": lambda n: whole(numbered("text %07d,7\n", n), csv(), filters=[("a", "in", FIFTY)]),
    "open: plain rows": lambda n: opened(numbered("text %07d,7\n", n), csv()),
    "open: one record without end": lambda n: opened(b"x" * n, csv()),
    "json: plain objects": lambda n: whole(numbered('{"a":"text %07d","n":7}\n', n), fm.Json(TWO)),
    "json: other keys each time": lambda n: whole(numbered('{"k%07d":1,"n":7}\n', n), fm.Json(TWO)),
    "json: one object of many keys": lambda n: whole(b"{" + numbered('"k%05d":1,', n) + b'"n":7}\n', fm.Json(TWO)),
    "json: one key again and again": lambda n: whole(b"{" + repeated(b'"n":1,', n) + b'"n":7}\n', fm.Json(TWO)),
    "json: one long key": lambda n: whole(b'{"' + b"k" * n + b'":1}\n', fm.Json(TWO)),
    "json: one string of escapes": lambda n: whole(b'{"a":"' + repeated(b"\\n", n) + b'"}\n', fm.Json(TWO)),
    "json: brackets that never close": lambda n: whole(repeated(b"[", n), fm.Json(TWO)),
    "json: one list": lambda n: whole(b'{"a":[' + repeated(b"1,", n) + b"1]}\n", fm.Json(NESTED)),
    "json: one map": lambda n: whole(b'{"m":{' + numbered('"k%05d":1,', n) + b'"z":1}}\n', fm.Json(NESTED)),
    "json: empty lists": lambda n: whole(repeated(b'{"a":[],"s":{}}\n', n), fm.Json(NESTED)),
    "json: checked in full": lambda n: whole(numbered('{"a":"text %07d","n":7,"x":[{}]}\n', n), fm.Json(TWO, validate="full")),
    "json: an array": lambda n: whole(json_array(n), fm.Json(TWO, records="array")),
    "json: one document behind the other": lambda n: whole(repeated(b'{"n":1}', n), fm.Json(TWO, records="concatenated")),
    "json: an array to three threads": lambda n: whole(json_array(n), fm.Json(TWO, records="/*"), threads=3),
    "json: documents of a record each": lambda n: whole(repeated(ONE_RECORD, n), WRAPPED, threads=3),
    "json: documents without records": lambda n: whole(repeated(b'{"of":[{"r":[7]}]}', n), WRAPPED),
    "json: text behind the records": lambda n: whole(text_behind(n), WRAPPED, threads=3),
    "json: space": lambda n: whole(b"{" + b" " * n + b"}\n", fm.Json(TWO)),
    "framed: empty rows": lambda n: whole(repeated(b"\0\0\0\0", n), FRAMED),
    "framed: rows": lambda n: whole(repeated(b"\x0a\0\0\0" + b"x" * 10, n), FRAMED),
    # streams, in small buffers
    "stream: in order": lambda n: streamed(numbered("text %07d,7\n", n), csv()),
    "stream: backwards": lambda n: streamed(numbered("text %07d,7\n", n), csv(), "backwards"),
    "stream: odd ones first": lambda n: streamed(numbered("text %07d,7\n", n), csv(), "odd first"),
    "stream: no quotes, backwards": lambda n: streamed(numbered("text %07d,7\n", n), csv(quote=None), "backwards"),
    "stream: ordered, odd ones first": lambda n: streamed(numbered("text %07d,7\n", n), csv(), "odd first", ordered=True),
    "stream: one record over all": lambda n: streamed(b"x" * n + b",1\n", csv()),
    "stream: one record over all, backwards": lambda n: streamed(b"x" * n + b",1\n", csv(quote=None), "backwards"),
    "stream: one field of escapes": lambda n: streamed(repeated(b"\\x", n) + b",1\n", csv(escape="\\")),
    "stream: one quoted field": lambda n: streamed(b'"' + repeated(b'""x', n) + b'",1\n', csv()),
    "stream: a header that never ends": lambda n: streamed(b"x" * n, csv(header=True)),
    "stream: a header of comments": lambda n: streamed(repeated(b"#c\n", n) + b"a,n\nx,1\n", csv(header=True, comment="#")),
    "stream: errors behind a gap": lambda n: streamed(repeated(b"x,y\n", n), csv(), "backwards"),
    "stream: json in order": lambda n: streamed(numbered('{"a":"text %07d","n":7}\n', n), fm.Json(TWO)),
    "stream: one json document": lambda n: streamed(b'{"a":"' + b"x" * n + b'"}\n', fm.Json(TWO)),
    "stream: a json array": lambda n: streamed(json_array(n), fm.Json(TWO, records="array")),
    "stream: documents of a record each": lambda n: streamed(repeated(ONE_RECORD, n), WRAPPED),
    "stream: text behind records": lambda n: streamed(text_behind(n), WRAPPED),
    "stream: one frame": lambda n: streamed(n.to_bytes(4, "little") + b"x" * n, FRAMED),
    # plans
    "plan: json columns by name": lambda n: named_columns(n // 256),
    # claims
    "shredder: in order": shredded(lambda n: list(range(1, n)), lambda i: True),
    "shredder: one record backwards": shredded(lambda n: list(range(n, 0, -1)), lambda i: False),
    "shredder: odd ones first": shredded(lambda n: [*range(1, n, 2), *range(2, n, 2)], lambda i: i % 7 == 0),
    # proposals
    "infer: rows": lambda n: inferred(numbered("%07d,x,2024-01-01\n", n)),
    "infer: delimiters of every kind": lambda n: inferred(repeated(b",;|\t", n // 8)),
    "infer: one line": lambda n: inferred(b"x" * n),
    "infer: quotes": lambda n: inferred(repeated(b'"', n)),
    "infer: another width each line": lambda n: inferred(b"".join(b"x," * (i % 50) + b"\n" for i in range(n // 50))),
    "infer: one object of many keys": lambda n: inferred(b"{" + numbered('"k%05d":1,', n) + b'"n":7}\n', "json"),
    "infer: objects of other keys": lambda n: inferred(numbered('{"k%05d":1}\n', n), "json"),
    "infer: nested lists": lambda n: inferred(b'{"a":' + b"[" * (n // 2) + b"]" * (n // 2) + b"}\n", "json"),
}  # fmt: skip

"""The header of a stream, however its bytes come: found behind whatever stands before it, missed aloud, never endless.

In: small inputs that begin with a header, or seem to. Out: rows, or that the header is refused, as a whole read has it.
Refuses to know: values.
"""

from __future__ import annotations

import itertools
import random

import pyarrow as pa
import pytest
from oracle.stream_runs import multiset, pieces_of, row_tuples

import formatter as fm

SCHEMA = pa.schema([("x", pa.string()), ("y", pa.string())])
REFUSED = "no header that names the columns"


def of_whole(data: bytes, format: fm.Csv) -> object:
    try:
        return multiset(row_tuples([fm.read(data, format, threads=1, on_error="skip")]))
    except (fm.SchemaError, fm.FormatError):
        return REFUSED


def of_stream(pieces: list[bytes], format: fm.Csv, **options: object) -> object:
    stream = fm.Stream(format, on_error="skip", **options)
    batches: list[fm.Batch] = []
    try:
        for sequence, piece in enumerate(pieces, 1):
            batches += stream.push(piece, sequence=sequence)
        batches += stream.finish()
    except fm.FormatError as error:
        return REFUSED if error.code == "header" else error.code
    return multiset(row_tuples(b.data for b in batches))


def test_a_delimiter_met_before_the_header_does_not_count_for_the_one_behind_it():
    """Its last byte alone once ended the header's line: a size below zero, or the header as a row."""
    stream = fm.Stream(fm.Csv(SCHEMA, header=True, record_delimiter="\n\n"))
    for sequence in (1, 2, 3):
        assert stream.push(b"\n", sequence=sequence) == []
    assert sum(b.num_rows for b in stream.finish()) == 0
    data = b"\r\n\nx,y\r\n1,2\r\n"  # the header's first name is "\nx"
    format = fm.Csv(SCHEMA, header=True, record_delimiter="\r\n")
    assert of_whole(data, format) == REFUSED
    for size in range(1, len(data) + 1):
        assert of_stream(pieces_of(data, size), format) == REFUSED, size


@pytest.mark.parametrize("delimiter", ["\n", "\r\n", "\n\n", "aab", "\ufeff"], ids=repr)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_any_bytes_before_a_header_are_read_as_in_one_piece(delimiter, encoding):
    options = {"record_delimiter": delimiter, "comment": "#", "encoding": encoding}
    format = fm.Csv(SCHEMA, header=True, **options)
    tokens = [delimiter, delimiter[-1], delimiter[0], "#", '"', "z", ""]
    for before in itertools.product(tokens, repeat=4):
        text = "".join(before) + f"x,y{delimiter}1,2{delimiter}"
        for marked in ("", "\ufeff"):
            data = (marked + text).encode(encoding)
            expected = of_whole(data, format)
            for size in (1, 3, len(data)):
                assert of_stream(pieces_of(data, size), format) == expected, (data, size)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize(
    "text",
    ["a,b", "x", '"x,y', 'x,"y', "\n#c\nx,q", "x,y", "y,z,x", "#c", "\n\n", "", 'x,"y"', "\ufeffx,y", "\n\ufeffx,y"],
    ids=repr,
)
def test_a_header_that_ends_with_the_stream_is_looked_at_like_any_other(encoding, text):
    format = fm.Csv(SCHEMA, header=True, comment="#", encoding=encoding)
    expected = REFUSED if text in ("a,b", "x", '"x,y', 'x,"y', "\n#c\nx,q", "\n\ufeffx,y") else []
    for data in (text.encode(encoding), (text + "\n").encode(encoding)):
        assert of_whole(data, format) == expected
        for size in (1, 2, 100):
            assert of_stream(pieces_of(data, size), format) == expected, (data, size)
    stream = fm.Stream(format, on_error="skip")
    for sequence, piece in enumerate(pieces_of(text.encode(encoding), 3), 1):
        stream.push(piece, sequence=sequence)
        stream = fm.Stream.restore(format, stream.checkpoint())
    if expected == REFUSED:
        with pytest.raises(fm.FormatError, match="expected a header that names every wanted column"):
            stream.finish()
    else:
        assert multiset(row_tuples(b.data for b in stream.finish())) == expected


@pytest.mark.parametrize("limit", [802, 803, 804])
def test_a_header_over_max_record_bytes_is_refused_alike_for_every_cut_and_not_kept(limit):
    data = b"x,y" + b",z" * 400 + b"\n" + b"1,2" + b",3" * 400 + b"\n"
    expected = REFUSED if limit < 803 else [("1", "2")]
    wide = pa.schema([*SCHEMA, *(pa.field(f"z{i}", pa.string()) for i in range(400))])
    format = fm.Csv(wide, header=True)

    def outcome(size: int) -> object:
        stream = fm.Stream(format, columns=["x", "y"], on_error="collect", max_record_bytes=limit)
        batches: list[fm.Batch] = []
        try:
            for sequence, piece in enumerate(pieces_of(data, size), 1):
                batches += stream.push(piece, sequence=sequence)
                stream = fm.Stream.restore(format, stream.checkpoint()) if sequence % 2 else stream
            batches += stream.finish()
        except fm.FormatError as error:
            return REFUSED if (error.code, error.byte_offset, error.record) == ("header", 0, 0) else error
        return multiset(row_tuples(b.data for b in batches))

    for size in (1, 2, 50, 802, 803, 804, len(data)):
        assert outcome(size) == expected, size


def test_random_beginnings_agree_with_a_whole_read():
    chance = random.Random(14)
    formats = [fm.Csv(SCHEMA, header=True, record_delimiter=d, comment="#") for d in ("\n", "\r\n", "\n\n", "abab")]
    for _ in range(1500):
        format = chance.choice(formats)
        end = str(format.record_delimiter)
        tokens = [end, end[0], end[-1], "#", "x,y", "1,2", '"', "\r", "\ufeff"]
        data = "".join(chance.choices(tokens, k=chance.randrange(9))).encode()
        expected = of_whole(data, format)
        assert of_stream(pieces_of(data, chance.randrange(1, 8)), format) == expected, (data, format.record_delimiter)

"""Streams driven through a schedule, and what a whole read of the same bytes says.

In: bytes, a format, cut positions, an order of arrival. Out: a StreamRun: rows, rejects and spans in comparable form.
Refuses to know: which inputs are interesting.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

import formatter as fm

POSITION_COLUMNS = ("byte_offset", "record", "column", "code", "message", "raw")


@dataclass
class StreamRun:
    rows: list[tuple[Any, ...]]  # sorted by their repr: a multiset
    rejects: list[tuple[Any, ...]]  # POSITION_COLUMNS, sorted
    error: tuple[Any, ...] | None  # position and text of the error that was raised
    batches: list[fm.Batch]
    stats: fm.StreamStats | None = None


def pieces_at(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    return [data[begin:end] for begin, end in pairwise([0, *cuts, len(data)])]


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


def shuffled(count: int, seed: int, window: int | None = None) -> list[int]:
    """An order of arrival; with a window, buffers are shuffled among `window` neighbours only."""
    order = list(range(count))
    chance = random.Random(seed)
    for begin in range(0, count, window or count or 1):
        part = order[begin : begin + (window or count)]
        chance.shuffle(part)
        order[begin : begin + len(part)] = part
    return order


def row_tuples(tables: Iterable[pa.RecordBatch | pa.Table]) -> list[tuple[Any, ...]]:
    """Rows as they come; floats by their repr, so that NaN and -0.0 compare."""
    rows: list[tuple[Any, ...]] = []
    for table in tables:
        columns = [c.to_pylist() for c in table.columns]
        rows += [tuple(repr(v) if isinstance(v, float) else v for v in row) for row in zip(*columns, strict=True)]
    return rows


def multiset(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


def reject_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(
        (tuple(row[c] for c in POSITION_COLUMNS) for row in map(without_place, table.to_pylist())),
        key=lambda r: (r[1], r[0], repr(r)),
    )


def without_place(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"message": message_without_place(row["message"])}


def message_without_place(message: str) -> str:
    """How the bytes came is what a stream's message begins with: it differs from cut to cut, the rest may not."""
    return re.sub(r"^origin [^:]*: (?=\w+: )", "", message)


def error_position(error: fm.FormatError) -> tuple[Any, ...]:
    return (error.byte_offset, error.record, error.column, error.code, message_without_place(str(error)))


def whole_read(data: bytes, format: fm.Csv, on_error: str = "raise", **options: Any) -> StreamRun:
    rejects: list[pa.Table] = []
    try:
        table = fm.read(data, format, on_error=on_error, threads=1, rejects=rejects, **options)
    except fm.FormatError as error:
        return StreamRun([], [], error_position(error), [])
    found = [row for part in rejects for row in reject_rows(part)]
    return StreamRun(multiset(row_tuples([table])), found, None, [])


def streamed(
    pieces: Sequence[bytes],
    format: fm.Csv,
    order: Sequence[int] | None = None,
    on_error: str = "raise",
    many: int | None = None,
    **options: Any,
) -> StreamRun:
    """One push a piece, or push_many of `many` at a time. Pieces count from 0, sequences from 1."""
    order = range(len(pieces)) if order is None else order
    stream = fm.Stream(format, on_error=on_error, **options)
    batches: list[fm.Batch] = []
    error = None
    try:
        if many is None:
            for index in order:
                batches += stream.push(pieces[index], sequence=index + 1)
        else:
            for begin in range(0, len(order), many):
                part = list(order[begin : begin + many])
                batches += stream.push_many([pieces[i] for i in part], sequences=[i + 1 for i in part])
        batches += stream.finish(last_sequence=len(pieces))
    except fm.FormatError as raised:
        return StreamRun([], [], error_position(raised), batches, stream.stats)
    rows = multiset(row_tuples(b.data for b in batches))
    rejects = reject_rows(stream.rejects()) if on_error == "collect" else []
    return StreamRun(rows, rejects, error, batches, stream.stats)


def covered(batches: Iterable[fm.Batch]) -> list[int]:
    """Every sequence that some batch answers for, as often as it does."""
    return sorted(s for b in batches for first, last in b.spans for s in range(first, last + 1))


def departure(run: StreamRun, whole: StreamRun, pieces: int) -> str | None:
    """Where a run departs from the whole read; None if nowhere."""
    if run.error or whole.error:
        return None if run.error == whole.error else f"error {run.error} instead of {whole.error}"
    if run.rows != whole.rows:
        missing = [r for r in whole.rows if r not in run.rows][:3]
        added = [r for r in run.rows if r not in whole.rows][:3]
        return f"{len(run.rows)} rows instead of {len(whole.rows)}: missing {missing}, added {added}"
    if run.rejects != whole.rejects:
        return f"rejects {run.rejects[:4]} instead of {whole.rejects[:4]}"
    if covered(run.batches) != list(range(1, pieces + 1)):
        return f"spans {sorted(s for b in run.batches for s in b.spans)} for {pieces} buffers"
    return None


SIZES = (1, 2, 7, 63, 64, 65)
BOTH_ORDERS = ((0, 1), (1, 0))


def cut_departure(
    data: bytes,
    format: Any,
    whole: StreamRun,
    on_error: str = "raise",
    *,
    orders: Iterable[Sequence[int]] = BOTH_ORDERS,
    sizes: Iterable[int] = (),
) -> str | None:
    """How the first stream of these bytes departs from the whole read: cut in two at every byte, in these orders, and into
    buffers of these sizes in random order, one by one or some at once."""
    for cut in range(len(data) + 1):
        for order in orders:
            found = departure(streamed(pieces_at(data, [cut]), format, order, on_error), whole, 2)
            if found is not None:
                return f"cut at {cut}, order {order}: {found}"
    for size in sizes:
        pieces = pieces_of(data, size)
        for seed, many in ((size, None), (size + 1, 3)):
            run = streamed(pieces, format, shuffled(len(pieces), seed), on_error, many=many)
            found = departure(run, whole, len(pieces))
            if found is not None:
                return f"buffers of {size}, seed {seed}: {found}"
    return None


def resumed_at_every_cut(data: bytes, format: Any) -> Iterator[tuple[int, list[fm.Batch]]]:
    """What a stream gives that was saved and restored behind the first bytes, for each number of them."""
    for cut in range(len(data) + 1):
        stream = fm.Stream(format)
        batches = stream.append(data[:cut])
        stream = fm.Stream.restore(format, stream.checkpoint())
        yield cut, batches + stream.append(data[cut:]) + stream.finish()

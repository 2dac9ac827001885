"""What users call from Python, on bytes that decide everything: options, samples, indexers, checkpoints.

In: bytes. Out: nothing, or AssertionError, or an exception that is not ours. A refusal in our words is an answer, too: then the
next bytes come. Refuses to know: who makes the bytes.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fuzz_choices import Choices, pieces_of
from json_target import json_values
from oracle.stream_runs import departure, multiset, row_tuples, streamed, whole_read
from oracle_targets import csv_values, declared, framed, values
from property_target import properties
from stored_targets import codecs, spill

import formatter as fm
from formatter import register_format
from formatter.checkpoints import CheckpointError
from formatter.plans.decode_plan import _recent_plans

TYPES = [pa.int64(), pa.string(), pa.float64(), pa.bool_(), pa.timestamp("us"), pa.date32(), pa.decimal128(9, 2),
         pa.dictionary(pa.int32(), pa.string()), pa.binary(), pa.int8(), pa.string_view(), pa.time32("s")]  # fmt: skip
TEXTS = [
    "",
    ",",
    ";",
    "\t",
    "|",
    '"',
    "'",
    "\\",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "#",
    "--",
    "::",
    "NA",
    "null",
    "0",
    "1",
    "é",
    "\0",
    " ",
]
RECORDS = ["lines", "array", "concatenated"]


def schema_of(choices: Choices) -> pa.Schema:
    return pa.schema([(f"c{i}", choices.one_of(TYPES)) for i in range(1 + choices.below(4))])


def csv_of(choices: Choices) -> fm.Csv:
    """Most options as they are if nothing is said: of several odd ones the first that excludes another would be the end."""
    ways: dict[str, Callable[[], Any]] = {
        "delimiter": lambda: choices.one_of(TEXTS),
        "record_delimiter": lambda: choices.one_of(TEXTS),
        "quote": lambda: choices.one_of([None, *TEXTS]),
        "quotes": lambda: choices.one_of(["strict", "lenient", "sticky", "none"]),
        "newlines_in_quotes": lambda: False,
        "max_quoted_lines": lambda: choices.below(5),
        "max_quoted_bytes": lambda: choices.below(80),
        "escape": lambda: choices.one_of(TEXTS),
        "header": lambda: choices.one_of([True, False, 0, 1, (0, 1)]),
        "skip_lines": lambda: choices.below(4),
        "skip_records": lambda: choices.below(4),
        "repeated_headers": lambda: True,
        "unique_names": lambda: True,
        "trim_names": lambda: True,
        "nulls": lambda: tuple(choices.some_of(TEXTS, 3)),
        "quoted_nulls": lambda: choices.one_of([True, "everywhere"]),
        "true_values": lambda: tuple(choices.some_of(TEXTS, 2)),
        "false_values": lambda: tuple(choices.some_of(TEXTS, 2)),
        "decimal": lambda: choices.one_of([",", ".", ";"]),
        "timestamp_formats": lambda: tuple(choices.some_of(["%d.%m.%Y", "%Y", "%H:%M", "%", "x%dx"], 2)),
        "trim": lambda: True,
        "comment": lambda: choices.one_of(TEXTS),
        "ragged": lambda: choices.one_of(["pad", "truncate", "fit"]),
        "encoding": lambda: choices.one_of(["latin-1", "cp1252", "utf-16", "utf-16-le"]),
        "errors": lambda: choices.one_of(["replace", "latin-1"]),
        "rescue": lambda: choices.one_of(["_rescued", "c0"]),
    }
    names = choices.some_of(list(ways), 4)
    return fm.Csv(schema_of(choices), **{name: ways[name]() for name in names})


def options(data: bytes) -> None:
    """Whatever is asked for is refused in words, or reads any cut in any order as it reads the whole."""
    choices = Choices(data)
    format = csv_of(choices)
    on_error = choices.one_of(["collect", "null", "raise", "skip"])
    cuts = Choices(choices.bytes(14))
    text = choices.rest()
    pieces, order = pieces_of(cuts, text)
    whole = whole_read(text, format, on_error)
    run = streamed(pieces, format, order, on_error)
    if on_error == "raise" and order != sorted(order) and whole.error and run.error:
        return  # which is told first depends on what came first
    different = departure(run, whole, len(pieces))
    assert different is None, f"{format}, {pieces}, {order}: {different}"


def json_options(data: bytes) -> None:
    choices = Choices(data)
    format = fm.Json(
        schema_of(choices),
        records=choices.one_of(RECORDS),
        validate=choices.one_of(["touched", "full"]),
    )
    on_error = choices.one_of(["collect", "null", "skip"])
    cuts = Choices(choices.bytes(14))
    text = choices.rest()
    pieces, order = pieces_of(cuts, text)
    different = departure(streamed(pieces, format, order, on_error), whole_read(text, format, on_error), len(pieces))
    assert different is None, f"{format}, {pieces}, {order}: {different}"


def infer(data: bytes) -> None:
    """A sample is refused in words, or has a format; without a warning that reads all of it."""
    choices = Choices(data)
    kind = choices.one_of(["csv", "json"])
    text = choices.rest()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        format = fm.infer(text, kind)
    if not seen:
        fm.read(text, format, threads=1)


_indexed: list[Choices] = []


def _any_indexer(data: np.ndarray[Any, Any], fields: np.ndarray[Any, Any]) -> Any:
    """Often right, sometimes a number anywhere else."""
    said = _indexed[0]
    ends = np.flatnonzero(data == ord("\n")) + 1
    begins = np.repeat(np.concatenate([[0], ends[:-1]])[:, None], len(fields), axis=1)
    stops = np.repeat((ends - 1)[:, None], len(fields), axis=1)
    kinds = np.zeros(len(ends), np.int64)
    for array in (ends, begins, stops, kinds):
        for _ in range(said.below(3)):
            if array.size:
                array.flat[said.below(array.size)] += said.one_of([1, -1, 2, 1 << 20, -(1 << 40), 1 << 62])
    if said.below(8) == 7:
        ends = ends[:-1]
    wide = said.one_of([np.int64, np.int32, np.uint64, np.int8, np.float64])
    return (ends, begins.astype(wide), stops) if said.below(2) else (ends, begins, stops, kinds)


def indexer(data: bytes) -> None:
    """What an indexer says is looked at before any byte is read by it."""
    choices = Choices(data)
    register_format("any", _any_indexer)
    format = fm.Registered(schema_of(choices), "any")
    _indexed[:] = [Choices(choices.bytes(24))]
    text = choices.rest()
    fm.read(text, format, on_error="skip", threads=1)


def checkpoint(data: bytes) -> None:
    """A state that was changed is refused; one that was not goes on as if nothing had been."""
    choices = Choices(data)
    format = csv_of(choices)
    at, bit = choices.below(256), choices.below(8)
    cuts = Choices(choices.bytes(14))
    text = choices.rest()
    pieces, order = pieces_of(cuts, text)
    stream = fm.Stream(format, on_error="skip")
    found: list[Any] = []
    for index in order:
        found += stream.push(pieces[index], sequence=index + 1)
        state = stream.checkpoint()
        damaged = bytearray(state)
        damaged[at * len(state) // 256] ^= 1 << bit
        with pytest.raises(CheckpointError):
            fm.Stream.restore(format, bytes(damaged))
        stream = fm.Stream.restore(format, state)
    found += stream.finish(last_sequence=len(pieces))
    whole = whole_read(text, format, "skip")
    assert multiset(row_tuples(batch.data for batch in found)) == whole.rows


TARGETS: dict[str, Callable[[bytes], None]] = {
    "options": options,
    "json_options": json_options,
    "infer": infer,
    "indexer": indexer,
    "python_checkpoint": checkpoint,
    "csv_values": csv_values,
    "json_values": json_values,
    "declared": declared,
    "framed": framed,
    "values": values,
    "codecs": codecs,
    "spill": spill,
    "properties": properties,
}


def run(target: str, data: bytes) -> None:
    with warnings.catch_warnings(), contextlib.suppress(fm.OptionError, fm.SchemaError, fm.FormatError):
        warnings.simplefilter("ignore")
        TARGETS[target](data)
    _recent_plans.clear()

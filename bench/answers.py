"""Is the answer right? A table becomes an Answer: hashes small enough to travel between processes.

In: tables. Out: Answers, and what is different about two. Where contestants differ, the truth decides if there is one, else most
of them.
Refuses to know: who made a table, how long it took.

Hashes of columns and of whole rows do not depend on the order of rows; one does, for contestants that promise an order.
Strings, views and dictionaries of one text are alike, and so are an object that is null and one whose members all are,
which not every library can tell apart.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NULL = np.uint64(0x9E3779B97F4A7C15)
ODD = np.uint64(0xBF58476D1CE4E5B9)
Hashes = np.ndarray[Any, np.dtype[np.uint64]]


@dataclass(frozen=True)
class Answer:
    rows: int
    columns: dict[str, int] = field(default_factory=dict)
    whole_rows: int | None = None
    in_order: int | None = None
    hashed_by: str = "arrow"  # answers hashed elsewhere (by Spark) compare among themselves, and by their rows

    @staticmethod
    def from_json(found: Mapping[str, Any]) -> Answer:
        return Answer(**found)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def difference(found: Answer, right: Answer) -> str | None:
    """None, or a sentence that says where they differ."""
    if found.rows != right.rows:
        return f"{found.rows} rows instead of {right.rows}"
    if found.hashed_by != right.hashed_by or not found.columns or not right.columns:
        return None
    if list(found.columns) != list(right.columns):
        return f"columns {list(found.columns)} instead of {list(right.columns)}"
    if other := [name for name, value in found.columns.items() if value != right.columns[name]]:
        return f"other values in {', '.join(other[:4])}{' and more' if len(other) > 4 else ''}"
    if found.whole_rows != right.whole_rows:
        return "the values of a column are right, but stand in other rows"
    if None not in (found.in_order, right.in_order) and found.in_order != right.in_order:
        return "the rows are right, but in another order"
    return None


def verdicts(answers: Mapping[str, Answer], truth: Answer | None = None) -> dict[str, str | None]:
    """What is wrong with each. Without a truth the answer that most give is held to be right; where no two agree, none is."""
    if truth is None and answers:
        agreeing = {
            name: sum(difference(other, one) is None for other in answers.values()) for name, one in answers.items()
        }
        best, count = Counter(agreeing).most_common(1)[0]
        if count == 1 and len(answers) > 1:
            return dict.fromkeys(answers, "no two contestants agree")
        if list(agreeing.values()).count(count) > count:
            return dict.fromkeys(answers, "as many contestants give one answer as another")
        truth = answers[best]
    return {name: difference(answer, truth) if truth else None for name, answer in answers.items()}


# --------------------------------------------------------------------------------------------------- from tables


def answer_of(table: pa.Table, ordered: bool = True) -> Answer:
    flat = flattened(table)
    columns: dict[str, int] = {}
    mixed = np.zeros(flat.num_rows, np.uint64)
    for name, column in zip(flat.column_names, flat.itercolumns(), strict=True):
        hashes = np.concatenate([row_hashes(chunk) for chunk in column.chunks] or [mixed[:0]])
        columns[name] = int(hashes.sum(dtype=np.uint64))
        mixed = _mix(mixed ^ hashes)
    places = np.arange(len(mixed), dtype=np.uint64) * ODD
    in_order = int(_mix(mixed ^ places).sum(dtype=np.uint64)) if ordered else None
    return Answer(flat.num_rows, columns, int(mixed.sum(dtype=np.uint64)), in_order)


def flattened(table: pa.Table) -> pa.Table:
    """Members of objects as columns, "user.name"."""
    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return table


def projected(table: pa.Table, task: Any) -> pa.Table:
    """The columns a task asks for; "user.name" is a member."""
    flat = flattened(table)
    wanted = [
        name
        for column in (task.columns or table.column_names)
        for name in flat.column_names
        if name == column or name.startswith(f"{column}.")
    ]
    return flat.select(wanted)


def _mix(values: Hashes) -> Hashes:
    values = values * ODD
    return values ^ (values >> np.uint64(29))


def row_hashes(array: pa.Array) -> Hashes:
    """64 bits for each value; null has a hash of its own."""
    kind = array.type
    if pa.types.is_dictionary(kind) or isinstance(array, pa.ExtensionArray):
        return row_hashes(array.dictionary_decode() if pa.types.is_dictionary(kind) else array.storage)
    hashes = _value_hashes(array, kind)
    if array.null_count:
        hashes[np.asarray(pc.is_null(array))] = NULL
    return hashes


def _value_hashes(array: pa.Array, kind: pa.DataType) -> Hashes:
    types = pa.types
    if types.is_null(kind):
        return np.full(len(array), NULL)
    if types.is_struct(kind):
        mixed = np.zeros(len(array), np.uint64)
        for number in range(kind.num_fields):
            mixed = _mix(mixed ^ row_hashes(pc.struct_field(array, [number])))
        return mixed
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _list_hashes(array)
    if types.is_decimal(kind):
        array, kind = array.cast(pa.string()), pa.string()
    if _is_text(kind):
        return _text_hashes(array)
    if types.is_floating(kind):
        values = pc.fill_null(array.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        return _mix((values + 0.0).view(np.uint64))  # -0.0 is 0.0
    if types.is_timestamp(kind):
        array = array.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    elif types.is_date(kind):
        array = array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    elif types.is_duration(kind) or types.is_time(kind):
        array = array.cast(pa.int32() if types.is_time32(kind) else pa.int64()).cast(pa.int64())
    else:
        array = array.cast(pa.int64())
    return _mix(pc.fill_null(array, 0).to_numpy(zero_copy_only=False).view(np.uint64))


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    asked = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return any(ask(kind) for ask in (*asked, types.is_binary_view, types.is_fixed_size_binary))


def _text_hashes(array: pa.Array) -> Hashes:
    coded = array.cast(pa.large_binary()).dictionary_encode()
    texts = [hashlib.blake2b(text, digest_size=8).digest() for text in coded.dictionary.to_pylist()]
    known = np.frombuffer(b"".join([*texts, bytes(8)]), np.uint64)
    return np.array(known[pc.fill_null(coded.indices, len(texts)).to_numpy(zero_copy_only=False)])


def _list_hashes(array: pa.Array) -> Hashes:
    """A list is its items with their places."""
    counts = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    items = row_hashes(pc.list_flatten(array))
    begins = np.concatenate([[0], np.cumsum(counts)])
    places = (np.arange(len(items)) - np.repeat(begins[:-1], counts)).astype(np.uint64)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mix(items ^ (places * ODD)), dtype=np.uint64)])
    return _mix((sums[begins[1:]] - sums[begins[:-1]]) ^ counts.view(np.uint64))

"""What contestants read: a file in memory with what is known of it, small enough to be told to another process.

In: a workload and a size, or a user's file. Out: an Input; its sample, of whole records.
Refuses to know: who reads it.
"""

from __future__ import annotations

import base64
import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

if TYPE_CHECKING:
    import formatter as fm

SAMPLE_BYTES = 48 << 10


@dataclass(frozen=True)
class Input:
    name: str
    kind: str  # "csv", "json" (lines) or "rows" (packed)
    path: str
    schema: pa.Schema
    few: tuple[str, ...]  # a projection
    newlines_in_values: bool = False
    delimiter: str = ","
    quote: str = '"'  # "" for none
    header: bool = False
    nulls: tuple[str, ...] = ("",)
    quotes: Literal["strict", "lenient", "sticky"] = "strict"  # the rule that a user's file needs
    ragged: Literal["error", "pad", "truncate", "fit"] = "error"

    @cached_property
    def data(self) -> bytes:
        return Path(self.path).read_bytes()

    @property
    def size(self) -> int:
        return Path(self.path).stat().st_size

    @property
    def quoting(self) -> Literal[0, 3]:
        return csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE

    def to_json(self) -> dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}
        return {**plain, "schema": base64.b64encode(self.schema.serialize()).decode()}

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Input:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(told["schema"])))
        lists = {name: tuple(told[name]) for name in ("few", "nulls")}
        return Input(**{**told, **lists, "schema": schema})

    def format(self) -> fm.Csv | fm.Json | fm.Native:
        """Ours, told what all are told."""
        import formatter as fm

        if self.kind == "json":
            return fm.Json(self.schema)
        if self.kind == "rows":
            return fm.Native(self.schema)
        return fm.Csv(
            self.schema, delimiter=self.delimiter, quote=self.quote or None, quotes=self.quotes if self.quote else "strict",
            header=self.header, nulls=self.nulls, ragged=self.ragged,
        )  # fmt: skip

    def sample(self, size: int = SAMPLE_BYTES) -> Input:
        """The first records as a file beside this one."""
        path = Path(f"{self.path}.sample")
        with Path(self.path).open("rb") as file:
            head = file.read(max(size, 1) + 1)
            while len(head) > size and len(cut := self.whole_records(head, size)) < size // 8:
                size *= 8  # a record longer than the sample
                head += file.read(size + 1 - len(head))
        path.write_bytes(cut if len(head) > size else head)
        return replace(self, path=str(path))

    def whole_records(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes, cut behind a record's end; behind an even number of quotes."""
        if self.kind == "rows":
            return data[: limit - limit % self.row_bytes]
        cut = data.rfind(b"\n", 0, limit) + 1
        while cut and self.newlines_in_values and data.count(self.quote.encode(), 0, cut) % 2:
            cut = data.rfind(b"\n", 0, cut - 1) + 1
        return data[:cut]

    @property
    def row_bytes(self) -> int:
        """Of packed rows; a boolean is a byte."""
        return sum(1 if pa.types.is_boolean(kind) else kind.bit_width // 8 for kind in self.schema.types)

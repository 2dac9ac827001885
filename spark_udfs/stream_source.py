"""A streaming source of chunks: files that grow, files that appear whole, or folders in which each file is one chunk.

In: a path and options. Out: streaming rows (origin, sequence, offset, payload, last_sequence) for su.parse_stream. An offset
says how far each origin was taken, so the same two offsets always mean the same chunks with the same numbers; Spark keeps
the offsets and asks for them again after a crash. Lists on the driver, reads in tasks, knows no records.

    su.register_chunks(spark)
    spark.readStream.format("formatter_chunks").option("layout", "growing").load("/logs/*.csv")
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import fs
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, SupportsTriggerAvailableNow

import formatter as fm
from formatter.codecs import codec_of
from spark_udfs.chunks import BATCH_BYTES, DEFAULT_CHUNK_BYTES, LARGEST_CHUNK_BYTES
from spark_udfs.file_listing import FoundFile, filesystem_of, list_files
from spark_udfs.open_files import payloads_of

STREAM_DDL = "origin STRING, sequence BIGINT, offset BIGINT, payload BINARY, last_sequence BIGINT"
STREAM_SCHEMA = pa.schema(
    [
        ("origin", pa.string()), ("sequence", pa.int64()), ("offset", pa.int64()), ("payload", pa.binary()),
        ("last_sequence", pa.int64()),
    ]
)  # fmt: skip
LAYOUTS = ("growing", "whole", "chunks")
DEFAULT_DONE = {"growing": ".done", "whole": "", "chunks": "_SUCCESS"}
TASK_BYTES = 32 << 20  # at most so many a partition, unless one chunk file is larger

Taken = dict[str, dict[str, Any]]  # an offset: by origin, how far it was taken


def register_chunks(spark: SparkSession) -> None:
    """Makes `spark.readStream.format("formatter_chunks")` known to a session."""
    spark.dataSource.register(ChunkStreamSource)


class ChunkStreamSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return "formatter_chunks"

    def schema(self) -> str:
        return STREAM_DDL

    def streamReader(self, schema: Any) -> ChunkStreamReader:
        if [field.name for field in schema] != STREAM_SCHEMA.names:
            raise fm.SchemaError(f"formatter_chunks: its columns are ({STREAM_DDL}); select what you need after load()")
        return ChunkStreamReader(SourceOptions.of(self.options))


@dataclass(frozen=True)
class SourceOptions:
    path: str
    layout: str = "growing"
    chunk_bytes: int = DEFAULT_CHUNK_BYTES
    max_bytes: int | None = None
    done: str = ".done"
    clean: bool = False

    @classmethod
    def of(cls, given: Any) -> SourceOptions:
        known = {"path", "layout", "chunkbytes", "maxbytespertrigger", "done", "cleansource"}
        options = {str(name).lower(): value for name, value in dict(given).items()}
        if unknown := set(options) - known:
            listed = "path, layout, chunkBytes, maxBytesPerTrigger, done, cleanSource"
            raise fm.OptionError(f"formatter_chunks: option {min(unknown)!r} is none of {listed}")
        if "path" not in options:
            raise fm.OptionError("formatter_chunks: no path; give it to load()")
        layout = options.get("layout", "growing")
        if layout not in LAYOUTS:
            raise fm.OptionError(f"formatter_chunks: layout is one of {', '.join(LAYOUTS)}, found {layout!r}")
        clean = options.get("cleansource", "off")
        if clean not in ("off", "delete"):
            raise fm.OptionError(f"formatter_chunks: cleanSource is 'off' or 'delete', found {clean!r}")
        chunk_bytes = _whole("chunkBytes", options.get("chunkbytes", DEFAULT_CHUNK_BYTES), LARGEST_CHUNK_BYTES)
        limit = options.get("maxbytespertrigger")
        max_bytes = None if limit is None else _whole("maxBytesPerTrigger", limit, 1 << 62)
        done = options.get("done", DEFAULT_DONE[layout])
        return cls(options["path"], layout, chunk_bytes, max_bytes, done, clean == "delete")


def _whole(name: str, value: Any, most: int) -> int:
    if not str(value).isdigit() or not 1 <= int(value) <= most:
        raise fm.OptionError(f"formatter_chunks: {name} is a whole number from 1 to {most}, found {value!r}")
    return int(value)


@dataclass
class Piece(InputPartition):
    """Bytes [begin, end) of a file as chunks from `sequence` on. `last_sequence`: the origin's, if it ends with these."""

    origin: str
    path: str
    begin: int
    end: int
    sequence: int
    chunk_bytes: int
    last_sequence: int | None = None
    ends_whole: bool = False  # compressed: its last chunk is known only when it is read


class ChunkStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.until: Taken | None = None  # under availableNow: what was there when the query began

    def initialOffset(self) -> Taken:
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable() if self.options.max_bytes is None else ReadMaxBytes(self.options.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:
        self.until = self._available({}, None)

    def latestOffset(self, start: Taken, limit: ReadLimit) -> Taken:
        budget = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        return self._available(start, budget)

    def reportLatestOffset(self) -> Taken | None:
        return None

    def partitions(self, start: Taken, end: Taken) -> Sequence[InputPartition]:
        plan = self._chunk_files if self.options.layout == "chunks" else self._file_pieces
        return [
            piece
            for origin in end
            if end[origin] != start.get(origin)
            for piece in plan(origin, start.get(origin), end[origin])
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Piece)
        yield from read_piece(partition)

    def commit(self, end: Taken) -> None:
        """Everything up to `end` has been processed: whole origins may go, if the user said so."""
        if not self.options.clean:
            return
        for origin, taken in end.items():
            if not taken["done"]:
                continue
            filesystem, inner = filesystem_of(origin)
            info = filesystem.get_file_info(inner)
            if info.type == fs.FileType.File:
                filesystem.delete_file(inner)
            elif info.type == fs.FileType.Directory and self.options.layout == "chunks":
                filesystem.delete_dir(inner)

    # What there is to take.

    def _available(self, start: Taken, budget: int | None) -> Taken:
        files = self._list()
        if self.options.layout == "chunks":
            return self._available_chunks(start, files, budget)
        names = {file.path for file in files}
        taken = dict(start)
        for file in files:
            if self.options.layout == "growing" and self.options.done and file.path.endswith(self.options.done):
                continue
            before = start.get(file.path, {"bytes": 0, "chunks": 0, "done": False})
            bound = None if self.until is None else self.until.get(file.path)
            if before["done"] or (self.until is not None and bound is None):
                continue
            size = file.size if bound is None else int(bound["bytes"])
            if size < before["bytes"]:
                raise OSError(
                    f"formatter_chunks: {file.path!r} has shrunk to {size} bytes, {before['bytes']} were taken before; "
                    "write a new file instead"
                )
            whole = self.options.layout == "whole" or file.path + self.options.done in names
            new = size - before["bytes"]
            if codec_of(file.path) is None and budget is not None:
                new = min(new, max(budget, 0))
            if budget is not None and budget <= 0 and size > before["bytes"]:
                continue
            done = whole and before["bytes"] + new == file.size
            if new == 0 and not done:
                continue
            chunks = -(-new // self.options.chunk_bytes) or (1 if done and before["chunks"] else 0)
            taken[file.path] = {"bytes": before["bytes"] + new, "chunks": before["chunks"] + chunks, "done": done}
            if budget is not None:
                budget -= new
        return taken

    def _available_chunks(self, start: Taken, files: list[FoundFile], budget: int | None) -> Taken:
        taken = dict(start)
        for folder, chunks in sorted(_by_folder(files).items()):
            before = start.get(folder, {"seen": "", "done": False})
            if before["done"]:
                continue
            seen = set(_numbers(before["seen"]))
            bound = None if self.until is None else set(_numbers(self.until.get(folder, {"seen": ""})["seen"]))
            for number, file in sorted(chunks.items()):
                if number in seen or (bound is not None and number not in bound):
                    continue
                if budget is not None and budget <= 0:
                    break
                seen.add(number)
                if budget is not None:
                    budget -= file.size
            done = self._is_done(folder) and seen >= set(chunks)
            if seen:
                taken[folder] = {"seen": _spans(seen), "done": done}
        return taken

    def _is_done(self, folder: str) -> bool:
        filesystem, inner = filesystem_of(folder)
        found = filesystem.get_file_info(posixpath.join(inner, self.options.done))
        return bool(self.options.done) and found.type == fs.FileType.File

    def _list(self) -> list[FoundFile]:
        try:
            return list_files(self.options.path)
        except FileNotFoundError:
            return []  # nothing has come yet

    # What lies between two offsets.

    def _file_pieces(self, path: str, start: dict[str, Any] | None, end: dict[str, Any]) -> Iterator[Piece]:
        before = start or {"bytes": 0, "chunks": 0, "done": False}
        size, chunk_bytes = self.options.chunk_bytes, self.options.chunk_bytes
        last = end["chunks"] if end["done"] else None
        if codec_of(path) is not None:
            yield Piece(path, path, 0, end["bytes"], 1, chunk_bytes, ends_whole=end["done"])
            return
        if end["bytes"] == before["bytes"] and end["chunks"] > before["chunks"]:  # the end came after the bytes
            yield Piece(path, path, end["bytes"], end["bytes"], end["chunks"], chunk_bytes, last)
            return
        step = max(1, TASK_BYTES // size) * size
        for begin in range(before["bytes"], end["bytes"], step):
            sequence = before["chunks"] + 1 + (begin - before["bytes"]) // size
            yield Piece(path, path, begin, min(begin + step, end["bytes"]), sequence, chunk_bytes, last)

    def _chunk_files(self, folder: str, start: dict[str, Any] | None, end: dict[str, Any]) -> Iterator[Piece]:
        new = set(_numbers(end["seen"])) - set(_numbers(start["seen"] if start else ""))
        last = max(_numbers(end["seen"])) if end["done"] else None
        if not new:  # the marker came after the chunks: one of them says so again
            new = {last} if last is not None else set()
        files = _by_folder(list_files(folder))[folder]
        for number in sorted(new):
            if number not in files:
                raise FileNotFoundError(
                    f"formatter_chunks: chunk {number} of {folder!r} is gone before it was processed"
                )
            file = files[number]
            yield Piece(folder, file.path, 0, file.size, number, max(file.size, 1), last)


def read_piece(piece: Piece) -> Iterator[pa.RecordBatch]:
    """A piece's chunks, a few MB at a time. An empty piece is one empty chunk: it tells of its origin's end."""
    rows: list[tuple[str, int, int, bytes, int | None]] = []
    held = 0
    for number, offset, payload, is_last in _payloads(piece):
        last = number if piece.ends_whole and is_last else piece.last_sequence
        rows.append((piece.origin, number, offset, payload, last))
        held += len(payload)
        if held >= BATCH_BYTES:
            yield _batch(rows)
            rows, held = [], 0
    if rows:
        yield _batch(rows)


def _payloads(piece: Piece) -> Iterator[tuple[int, int, bytes, bool]]:
    """(sequence, offset, payload, whether it is the last one)"""
    number, offset, before = piece.sequence, piece.begin, None
    for payload in payloads_of(piece.path, codec_of(piece.path), piece.begin, piece.end, piece.chunk_bytes):
        if before is not None:
            yield number, offset, before, False
            number, offset = number + 1, offset + len(before)
        before = payload
    yield number, offset, before or b"", True


def _batch(rows: list[tuple[str, int, int, bytes, int | None]]) -> pa.RecordBatch:
    arrays = [
        pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), STREAM_SCHEMA, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=STREAM_SCHEMA)


def _by_folder(files: list[FoundFile]) -> dict[str, dict[int, FoundFile]]:
    """Chunk files by folder and by the last number in their names; others are refused."""
    folders: dict[str, dict[int, FoundFile]] = {}
    for file in files:
        folder, _, name = file.path.rpartition("/")
        found = re.search(r"(\d+)\D*$", name)
        if found is None:
            raise fm.OptionError(
                f"formatter_chunks: {file.path!r}: expected the chunk's sequence in its name, found no number"
            )
        number = int(found[1])
        other = folders.setdefault(folder, {}).setdefault(number, file)
        if other is not file:
            raise fm.SequenceError(
                f"formatter_chunks: {file.path!r} and {other.path!r} are both chunk {number}",
                sequence=number,
                origin=folder,
            )
    return folders


def _spans(numbers: set[int]) -> str:
    """`1-5,7`"""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def _numbers(spans: str) -> Iterator[int]:
    for span in filter(None, spans.split(",")):
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)

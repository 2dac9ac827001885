"""A stream of chunks, by which offsets mean the same chunks whenever they are asked for.

In: a path and options. Out: streaming rows (origin, sequence, offset, payload, last_sequence) for su.parse_stream. An offset
says how far each origin was taken, so the same two offsets always mean the same chunks with the same numbers; Spark keeps
the offsets and asks for them again after a crash. Lists on the driver, reads in tasks, knows no records.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxBytes

import formatter as fm
from formatter.codecs import codec_of
from spark_udfs.chunks import file_chunks
from spark_udfs.chunks.file_chunks import LAST_READ, Stretch, stretches
from spark_udfs.files.file_listing import LOCAL, FoundFile, list_files
from spark_udfs.sources.source_options import SourceOptions
from spark_udfs.sources.streamed_files import StreamedFiles
from spark_udfs.tasks.sent_functions import plainly

OPTIONS = ("path", "layout", "chunkBytes", "maxBytesPerTrigger", "done", "cleanSource")
DEFAULT_DONE = {
    "growing": ".done",
    "whole": "",
    "chunks": "_SUCCESS",
}  # by layout: what says that an origin is complete
NOTHING = {"bytes": 0, "chunks": 0, "done": False}

Taken = dict[str, dict[str, Any]]  # an offset: by origin, how far it was taken


@dataclass
class Piece(InputPartition):
    stretch: Stretch


class ChunkStreamReader(StreamedFiles):
    def __init__(self, options: SourceOptions) -> None:
        options.require_known(OPTIONS)
        budget = options.whole_number("maxBytesPerTrigger")
        super().__init__(options, None if budget is None else ReadMaxBytes(budget))
        self.layout = options.one_of("layout", tuple(DEFAULT_DONE), "growing")
        self.chunk_bytes = (
            options.whole_number("chunkBytes", file_chunks.LARGEST_CHUNK_BYTES) or file_chunks.DEFAULT_CHUNK_BYTES
        )
        self.done: str = options.given.get("done", DEFAULT_DONE[self.layout])
        self.until: Taken | None = None  # under availableNow: what was there when the query began

    @plainly()
    def prepareForTriggerAvailableNow(self) -> None:
        self.until = self._available({}, math.inf)

    @plainly()
    def latestOffset(self, start: Taken, limit: ReadLimit) -> Taken:
        return self._available(start, limit.max_bytes if isinstance(limit, ReadMaxBytes) else math.inf)

    @plainly()
    def partitions(self, start: Taken, end: Taken) -> Sequence[InputPartition]:
        between = self._chunk_files if self.layout == "chunks" else self._new_bytes
        changed = (origin for origin in end if end[origin] != start.get(origin))
        return [Piece(one) for origin in changed for one in between(origin, start.get(origin), end[origin])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Piece)
        return file_chunks.chunk_batches(partition.stretch, file_chunks.STREAM_SCHEMA)

    def commit(self, end: Taken) -> None:
        """Everything up to `end` has been processed: whole origins may go, if the user said so."""
        for origin, taken in end.items() if self.cleans else ():
            if taken["done"]:
                self.delete(origin, folders=self.layout == "chunks")

    # What there is to take.

    def _available(self, start: Taken, room: float) -> Taken:
        files = self.listed()
        if self.layout == "chunks":
            return self._available_chunks(start, files, room)
        names = {file.path for file in files}
        taken = dict(start)
        for file in files:
            if self.layout == "growing" and self.done and file.path.endswith(self.done):
                continue
            before = start.get(file.path, NOTHING)
            bound = {"bytes": file.size} if self.until is None else self.until.get(file.path)
            if before["done"] or bound is None:
                continue
            new = bound["bytes"] - before["bytes"]
            if new < 0:
                raise OSError(
                    f"formatter_chunks: {file.path!r} has shrunk to {file.size} bytes, {before['bytes']} were taken before; "
                    "write a new file instead"
                )
            if new and room <= 0:
                continue
            if codec_of(file.path) is None:
                new = int(min(new, room))
            is_whole = self.layout == "whole" or file.path + self.done in names
            done = is_whole and before["bytes"] + new == file.size
            if new == 0 and not done:
                continue
            chunks = -(-new // self.chunk_bytes) or (1 if done and before["chunks"] else 0)
            taken[file.path] = {"bytes": before["bytes"] + new, "chunks": before["chunks"] + chunks, "done": done}
            room -= new
        return taken

    def _available_chunks(self, start: Taken, files: list[FoundFile], room: float) -> Taken:
        taken = dict(start)
        for folder, chunks in sorted(_by_folder(files).items()):
            before = start.get(folder, {"seen": "", "done": False})
            if before["done"]:
                continue
            seen = set(_numbers(before["seen"]))
            bound = chunks if self.until is None else set(_numbers(self.until.get(folder, {"seen": ""})["seen"]))
            for number, file in sorted(chunks.items()):
                if number in seen or number not in bound:
                    continue
                if room <= 0:
                    break
                seen.add(number)
                room -= file.size
            if seen:
                taken[folder] = {"seen": _spans(seen), "done": self._is_done(folder) and seen >= set(chunks)}
        return taken

    def _is_done(self, folder: str) -> bool:
        filesystem, inner = LOCAL.resolve(folder)
        return bool(self.done) and filesystem.get_file_info(posixpath.join(inner, self.done)).is_file

    # What lies between two offsets.

    def _new_bytes(self, path: str, start: dict[str, Any] | None, end: dict[str, Any]) -> Iterator[Stretch]:
        before = start or NOTHING
        last = end["chunks"] if end["done"] else None
        if codec_of(path) is not None:  # its last chunk is known only when it is read
            yield Stretch(path, 0, end["bytes"], 1, self.chunk_bytes, path, LAST_READ if end["done"] else None)
        elif end["bytes"] == before["bytes"] and end["chunks"] > before["chunks"]:  # the end came after the bytes
            yield Stretch(path, end["bytes"], end["bytes"], end["chunks"], self.chunk_bytes, path, last)
        else:
            yield from stretches(path, before["bytes"], end["bytes"], before["chunks"] + 1, self.chunk_bytes, last)

    def _chunk_files(self, folder: str, start: dict[str, Any] | None, end: dict[str, Any]) -> Iterator[Stretch]:
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
            yield Stretch(file.path, 0, file.size, number, max(file.size, 1), folder, last)


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

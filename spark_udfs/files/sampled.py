"""A sample spread over files. In: files, how much of them, a seed. Out: stretches of their bytes: the beginning of the first file
that has anything in it, then one from each of as many equal parts of all bytes as there are stretches, where the seed says.

A compressed file has only a beginning, and so has one whose records begin at no line end. Refuses to know: types.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from random import Random

import formatter as fm
from formatter.block_stream import up_to
from formatter.codecs import codec_of
from formatter.inference.sample import SAMPLE_BYTES, looks_like_json
from formatter.inference.stretches import Stretch, begins_at_lines
from spark_udfs.files.file_listing import FoundFile, Storage
from spark_udfs.files.open_files import opened

STRETCH_BYTES = 64 << 10
HEAD_BYTES = 1 << 20  # of the first file: what stands before its table, and enough of that to tell what it is
READERS = 8  # of stretches at once: storage far away answers slowly
KINDS = {".csv": "csv", ".tsv": "csv", ".psv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}


def sample_of(
    files: Sequence[FoundFile], storage: Storage, ratio: float | None, seed: int, kind: str | None
) -> tuple[str, list[Stretch]]:
    """The kind of the files, "csv" or "json", and the sample. `ratio`: how much of all bytes; None: a few megabytes at most."""
    filled = [file for file in files if file.size]
    if not filled:
        raise fm.OptionError("spark: nothing can be inferred: all files are empty; give schema=")
    total = sum(file.size for file in filled)
    budget = SAMPLE_BYTES if ratio is None else max(int(ratio * total), STRETCH_BYTES)
    whole = budget >= total
    head = _read(storage, filled[0], 0, HEAD_BYTES if not whole else None if ratio else SAMPLE_BYTES)
    kind = kind or _kind_of(filled[0].path, head.data)
    places: list[tuple[FoundFile, int, int | None]]
    if whole:
        content = None if ratio else SAMPLE_BYTES // len(filled)  # compressed files hold more than their size says
        places = [(file, 0, content) for file in filled[1:]]
    else:
        anywhere = begins_at_lines(head.data, kind)
        places = [
            (file, offset, STRETCH_BYTES)
            for file, offset in _places(filled, total, budget, seed, anywhere)
            if file is not filled[0] or offset >= len(head.data)
        ]
    with ThreadPoolExecutor(READERS) as readers:
        return kind, [head, *readers.map(lambda place: _read(storage, *place), places)]


def _kind_of(path: str, head: bytes) -> str:
    """What the file's name says, or else its beginning."""
    bare = path if codec_of(path) is None else posixpath.splitext(path)[0]
    named = KINDS.get(posixpath.splitext(bare)[1].lower())
    return named or ("json" if looks_like_json(head) else "csv")


def _places(
    files: Sequence[FoundFile], total: int, budget: int, seed: int, anywhere: bool
) -> Iterator[tuple[FoundFile, int]]:
    """(file, offset), in order and each once."""
    random = Random(seed)
    ends = list(accumulate(file.size for file in files))
    count = max(1, budget // STRETCH_BYTES)
    seen: set[tuple[str, int]] = set()
    at = 0
    for number in range(count):
        begin, end = number * total // count, (number + 1) * total // count
        place = random.randrange(begin, max(begin + 1, end - STRETCH_BYTES))
        while ends[at] <= place:
            at += 1
        file = files[at]
        offset = place - (ends[at] - file.size)
        if not anywhere or codec_of(file.path) is not None or offset < STRETCH_BYTES:
            offset = 0
        if (file.path, offset) not in seen:
            seen.add((file.path, offset))
            yield file, offset


def _read(storage: Storage, file: FoundFile, offset: int, size: int | None) -> Stretch:
    """So many bytes (None: all), or more until a record is whole in them: it may be longer."""
    codec = codec_of(file.path)
    with opened(storage, file.path, codec) as stream:
        if offset:
            stream.seek(offset)
        if size is None:
            return Stretch(file.path, b"".join(iter(lambda: up_to(stream, SAMPLE_BYTES), b"")), offset, True)
        data = up_to(stream, size)
        while len(data) >= size and data.count(b"\n") < 2 and size < SAMPLE_BYTES:
            data, size = data + up_to(stream, size), 2 * size
    ends = len(data) < size if codec is not None else offset + len(data) == file.size
    return Stretch(file.path, data, offset, ends)

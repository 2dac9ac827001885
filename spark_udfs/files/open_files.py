"""Files as tasks open them, whatever their storage and codec. In: a path and its codec. Out: a stream of its content, whose
errors name the file. Refuses to know: records, and which parts are wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from pyarrow import fs

from formatter.block_stream import up_to
from formatter.codecs import Decompressed
from spark_udfs.files.file_listing import LOCAL, Storage


@contextmanager
def opened(storage: Storage, path: str, codec: str | None) -> Iterator[Any]:
    """A stream with readinto() and read(); one that can seek unless there is a codec."""
    try:
        with closing(_stream(*storage.resolve(path), path, codec)) as stream:
            yield stream
    except OSError as error:
        if path in str(error) or (str(error.filename or "") in path and error.filename):
            raise
        raise OSError(f"{path}: {error}") from error


def payloads_of(path: str, codec: str | None, begin: int, end: int, chunk_bytes: int) -> Iterator[bytes]:
    """A file's bytes from `begin` to `end`, or with a codec all of its content, in pieces of one size but for the last."""
    with opened(LOCAL, path, codec) as stream:
        if codec is not None:
            while payload := up_to(stream, chunk_bytes):
                yield payload
            return
        stream.seek(begin)
        for offset in range(begin, end, chunk_bytes):
            wanted = min(chunk_bytes, end - offset)
            payload = up_to(stream, wanted)
            if len(payload) != wanted:
                raise OSError(
                    f"spark: {path!r} has shrunk since it was listed: expected {wanted} bytes at {offset}, found {len(payload)}; "
                    "list it again by running the query anew"
                )
            yield payload


def _stream(filesystem: fs.FileSystem, inner: str, path: str, codec: str | None) -> Any:
    if codec is not None:
        return Decompressed(filesystem.open_input_stream(inner, compression=None), codec, path)
    if isinstance(filesystem, fs.LocalFileSystem):
        return open(inner, "rb", buffering=0)
    return filesystem.open_input_file(inner)

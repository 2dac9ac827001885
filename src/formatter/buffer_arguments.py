"""What users pass as buffers and sequences, and why one was refused. In: arguments. Out: what the engine takes, errors.

Refuses to know: streams, locks, batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from formatter.errors import BackpressureError, OptionError, SequenceError

Origin = int | str
Numbers = np.ndarray[Any, Any]
MOST_AHEAD = 67_108_864  # of the next missing buffer: ShredRing::max_slots


def checked_origin(origin: Any) -> Origin:
    if isinstance(origin, str) or (isinstance(origin, int) and not isinstance(origin, bool)):
        return origin
    if isinstance(origin, bool | np.bool_ | np.ndarray) or not hasattr(origin, "__index__"):
        raise OptionError(f"origin: expected an int or str, found {origin!r}")
    return int(origin.__index__())


def checked_origins(origins: Any, count: int) -> list[Origin]:
    """One a buffer."""
    if origins is None or isinstance(origins, str) or np.isscalar(origins):
        return [0 if origins is None else checked_origin(origins)] * count
    try:
        listed = origins.to_pylist() if hasattr(origins, "to_pylist") else list(origins)
    except TypeError:
        raise OptionError(f"push_many: origins: expected one a buffer, or one for all, found {origins!r}") from None
    if len(listed) != count:
        raise OptionError(f"push_many: expected {count} origins, one a buffer, found {len(listed)}")
    return [checked_origin(origin) for origin in listed]


def checked_sequence(sequence: Any, origin: Origin | None) -> int:
    if isinstance(sequence, bool) or not hasattr(sequence, "__index__"):
        raise SequenceError(f"sequence: expected a whole number from 1, found {sequence!r}", origin=origin)
    number = int(sequence.__index__())
    if not 1 <= number < 2**64:
        where = "" if origin is None else f"origin {origin!r}: "
        raise SequenceError(
            f"{where}sequence: expected a whole number from 1 to 2**64 - 1, found {number}; "
            "sequences of an origin count 1, 2, 3, ...",
            sequence=number,
            origin=origin,
        )
    return number


def checked_sequences(sequences: Any, count: int) -> Numbers:
    if isinstance(sequences, pa.Array | pa.ChunkedArray):
        sequences = sequences.to_numpy(zero_copy_only=False)
    elif hasattr(sequences, "__iter__") and not hasattr(sequences, "__len__"):
        sequences = list(sequences)
    numbers = np.asarray(sequences)
    if numbers.shape != (count,):
        raise OptionError(f"push_many: expected {count} sequences, one a buffer, found shape {numbers.shape}")
    mixed = numbers.dtype.kind == "f" and isinstance(
        sequences, list | tuple
    )  # numpy's way with whole numbers of all sizes
    if numbers.dtype.kind == "O" or mixed:  # beyond 64 bits, or no numbers at all
        checked = [checked_sequence(number, None) for number in sequences]
        return np.array(checked, np.uint64)
    if count and (numbers.dtype.kind not in "iu" or numbers.min() < 1):
        bad = numbers.min() if numbers.dtype.kind == "i" else numbers[0]
        raise SequenceError(f"push_many: sequence: expected whole numbers from 1, found {bad.item()!r}")
    return np.ascontiguousarray(numbers, np.uint64)


def as_arrow(buffers: Any) -> pa.Array | None:
    """One Arrow array of buffers, checked; None if they are something else."""
    if isinstance(buffers, pa.ChunkedArray):
        buffers = buffers.combine_chunks() if buffers.num_chunks != 1 else buffers.chunk(0)
    if not isinstance(buffers, pa.Array):
        return None
    if buffers.type in (pa.binary_view(), pa.string_view()):
        buffers = buffers.cast(pa.large_binary())
    if buffers.type not in (pa.binary(), pa.large_binary(), pa.string(), pa.large_string()):
        raise OptionError(f"push_many: buffers: expected a binary array or a list of bytes, found {buffers.type}")
    if buffers.null_count:
        raise OptionError("push_many: buffers: expected no nulls; a buffer that never comes is stream.lost(sequence)")
    return buffers


def refusal(
    status: str, origin: Origin, sequence: int, holes: list[Any], options: dict[str, Any], not_taken: tuple[int, ...]
) -> Exception:
    where = f"origin {origin!r}, sequence {sequence}" if sequence else f"origin {origin!r}"
    if status == "pending_limit":
        return BackpressureError(
            f"{where}: as much waits for earlier buffers as max_pending_bytes={options['max_pending_bytes']} allows; push "
            "those first, then this one again",
            sequence=sequence, origin=origin, not_taken=not_taken,
        )  # fmt: skip
    missing = ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in holes)
    missing = f"{'buffer' if len(holes) == 1 and holes[0][0] == holes[0][1] else 'buffers'} {missing}"
    limit = options["max_sequence"]
    text = {
        "duplicate": f"{where}: this buffer was pushed before, or declared lost; push each once, or set "
        "on_duplicate='ignore' for redelivery",
        "out_of_range": f"{where}: expected at most max_sequence={limit}, and less than half of it ahead"
        if limit
        else f"{where}: expected one within {MOST_AHEAD:,} of the next missing buffer; push those before it first, or declare "
        "them with stream.lost(sequence)",
        "finished": f"{where}: the origin was finished; use another origin or a new stream",
        "hole": f"origin {origin!r}: finish: {missing} never came; push them, or declare them with "
        "stream.lost(sequence)",
        "beyond": f"origin {origin!r}: finish: last_sequence={sequence}, but {missing} came too; finish with "
        "the last one's",
    }[status]
    if holes:
        sequence = int(holes[0][0])
    return SequenceError(text, sequence=sequence, origin=origin, not_taken=not_taken)

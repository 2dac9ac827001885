"""What a streaming query keeps of an origin between micro-batches, and what a micro-batch does to it.

In: the state of before, and the chunks that came. Out: batches of rows, and the state of after: a stream's checkpoint (open
fragments, never whole chunks for long) and a few numbers. Knows nothing of Spark; the same chunks after the same state give
the same rows, so that a micro-batch done again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import formatter as fm


@dataclass(frozen=True)
class Policies:
    """Checked when made. `missing_after`: micro-batches of the origin (int), or milliseconds of waiting (float)."""

    late: str = "ignore"
    missing: str = "wait"
    missing_after: int | float | None = None
    on_duplicate: str = "ignore"
    on_error: str = "raise"

    def __post_init__(self) -> None:
        choices = {
            "late": ("ignore", "raise"),
            "missing": ("wait", "lost", "raise"),
            "on_duplicate": ("ignore", "raise"),
            "on_error": ("raise", "null", "skip"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                listed = ", ".join(map(repr, allowed))
                raise fm.OptionError(f"parse_stream: {name}: expected one of {listed}, found {getattr(self, name)!r}")
        if (self.missing == "wait") != (self.missing_after is None):
            raise fm.OptionError(
                "parse_stream: missing='lost' and 'raise' need missing_after=, micro-batches or '30 seconds', "
                "and missing='wait' takes none"
            )
        if self.missing_after is not None and not self.missing_after > 0:
            raise fm.OptionError(
                f"parse_stream: missing_after: expected more than nothing, found {self.missing_after!r}"
            )
        if self.missing == "lost" and self.on_error == "raise":
            raise fm.OptionError(
                "parse_stream: missing='lost' gives up the records over a missing chunk's edges, which on_error='raise' "
                "does not allow; set on_error='skip' or 'null'"
            )


@dataclass
class Progress:
    """Which chunks of an origin were taken, as inclusive spans in order; and how long gaps have been open."""

    seen: list[list[int]] = field(default_factory=list)
    lost: list[list[int]] = field(default_factory=list)  # declared; also in `seen`
    gaps: dict[str, float] = field(default_factory=dict)  # by first chunk: since when
    turns: int = 0  # micro-batches with chunks of this origin
    last_sequence: int | None = None
    finished: bool = False
    format: int | str | None = None  # where formats differ: what the origin's chunks say of theirs

    @classmethod
    def of(cls, about: str) -> Progress:
        return cls(**json.loads(about))

    def add(self, sequence: int) -> None:
        _add(self.seen, sequence, sequence)

    def declare_lost(self, first: int, last: int) -> None:
        _add(self.lost, first, last)
        _add(self.seen, first, last)

    def open_gaps(self) -> list[tuple[int, int]]:
        """Missing chunks in front of others that came, or in front of the announced end."""
        found, before = [], 0
        for first, last in self.seen:
            if first > before + 1:
                found.append((before + 1, first - 1))
            before = last
        if self.last_sequence is not None and self.last_sequence > before:
            found.append((before + 1, self.last_sequence))
        return found


def _add(spans: list[list[int]], first: int, last: int) -> None:
    spans.append([first, last])
    spans.sort()
    merged: list[list[int]] = []
    for span in spans:
        if merged and span[0] <= merged[-1][1] + 1:
            merged[-1][1] = max(merged[-1][1], span[1])
        else:
            merged.append(span)
    spans[:] = merged


def _holds(spans: list[list[int]], sequence: int) -> bool:
    return any(first <= sequence <= last for first, last in spans)


class OriginState:
    """One origin in one micro-batch: restore, take, and save. The stream is made only when there is something to do."""

    def __init__(
        self,
        origin: int | str,
        format: Any,
        options: dict[str, Any],
        policies: Policies,
        progress: Progress | None = None,
        checkpoint: bytes | None = None,
    ) -> None:
        """`progress` and `checkpoint`: as the micro-batch before saved them."""
        self.origin = origin
        self.format = format
        self.options = options
        self.policies = policies
        self.progress = progress or Progress()
        self.stream: fm.Stream | None = None
        if checkpoint:
            self.stream = fm.Stream.restore(self.format, checkpoint)

    def save(self) -> tuple[str, bytes | None]:
        about = json.dumps(asdict(self.progress))
        return about, None if self.stream is None or self.progress.finished else self.stream.checkpoint()

    def take(self, sequences: Iterable[int], payloads: Iterable[Any], last_sequence: int | None) -> list[fm.Batch]:
        """The chunks of a micro-batch, in any order. `last_sequence`: the origin's last one, if it was announced."""
        self.progress.turns += 1
        wanted = [pair for pair in zip(sequences, payloads, strict=True) if not self._passed_over(int(pair[0]))]
        if last_sequence is not None and not self.progress.finished:
            self._announce(last_sequence)
        if self.progress.finished:
            return []
        batches: list[fm.Batch] = []
        if wanted:
            batches += self._open().push_many(
                [payload for _, payload in wanted], sequences=[int(number) for number, _ in wanted], origins=self.origin
            )
            for number, _ in wanted:
                self.progress.add(int(number))
        return batches

    def settle(self, now: float) -> list[fm.Batch]:
        """Gives up what is missing for too long, ends the origin when all is there, and lets open rows out."""
        if self.progress.finished:
            return []
        batches: list[fm.Batch] = []
        open_gaps = self.progress.open_gaps()
        since = self.progress.gaps
        self.progress.gaps = {str(first): since.get(str(first), now) for first, _ in open_gaps}
        for first, last in open_gaps:
            if self.policies.missing != "wait" and now - self.progress.gaps[str(first)] >= self.policies.missing_after:  # type: ignore[operator]
                batches += self._give_up(first, last)
        if self.progress.last_sequence is not None and not self.progress.open_gaps():
            batches += self._open().finish(origin=self.origin, last_sequence=self.progress.last_sequence)
            self.progress.finished = True
        if self.stream is not None:
            batches += self.stream.flush()
        return batches

    @property
    def waits(self) -> bool:
        return bool(self.progress.gaps) and not self.progress.finished

    def _open(self) -> fm.Stream:
        if self.stream is None:
            self.stream = fm.Stream(self.format, **self.options)
        return self.stream

    def _passed_over(self, sequence: int) -> bool:
        """Whether a chunk is late or was here before; raises if that is not allowed."""
        progress, policies = self.progress, self.policies
        beyond = progress.last_sequence is not None and sequence > progress.last_sequence
        if beyond or _holds(progress.lost, sequence):
            if policies.late == "raise":
                why = "behind the origin's end" if beyond else "given up as missing before"
                raise self._wrong(
                    sequence, f", sequence {sequence}: this chunk came late ({why}); late='ignore' drops such"
                )
            return True
        if not _holds(progress.seen, sequence):
            return False
        if policies.on_duplicate == "raise":
            raise self._wrong(
                sequence, f", sequence {sequence}: this chunk came before; on_duplicate='ignore' drops such"
            )
        return True

    def _announce(self, last_sequence: int) -> None:
        highest = self.progress.seen[-1][1] if self.progress.seen else 0
        known = self.progress.last_sequence
        if (known is not None and known != last_sequence) or highest > last_sequence:
            came = f"at {known} before" if known not in (None, last_sequence) else f"chunk {highest} came"
            raise self._wrong(last_sequence, f": its end was announced at chunk {last_sequence}, but {came}")
        self.progress.last_sequence = last_sequence

    def _give_up(self, first: int, last: int) -> list[fm.Batch]:
        if self.policies.missing == "raise":
            raise self._wrong(first, f": chunks {first} to {last} are missing for too long (missing_after)")
        batches: list[fm.Batch] = []
        for sequence in range(first, last + 1):
            batches += self._open().lost(sequence, origin=self.origin)
        self.progress.declare_lost(first, last)
        self.progress.gaps.pop(str(first), None)
        return batches

    def _wrong(self, sequence: int, what: str) -> fm.SequenceError:
        return fm.SequenceError(f"origin {self.origin!r}{what}", origin=self.origin, sequence=sequence)

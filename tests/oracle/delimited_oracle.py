"""A slow, obvious reading of declared formats: the rules of docs/delimited.md written down a second time, byte by byte.

In: whole bytes and an fm.Delimited, of which only the attributes are read. Out: rows and rejects, by the on_error asked for.
Refuses to know: buffers, kernels, speed, and any code of the package under test.
"""

from __future__ import annotations

from typing import Any

from oracle.csv_values import Bad, decode_value

BOM = b"\xef\xbb\xbf"


def read(data: bytes, format: Any, on_error: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """(rows, rejects as (byte_offset, record, column, code, raw)); on_error is "null", "skip" or "collect"."""
    rows, rejects = [], []
    at, number = len(BOM) * data.startswith(BOM), 0
    while at < len(data):
        begin, end = at, data.find(format.record_end, at)
        at, end = (len(data), len(data)) if end < 0 else (end + len(format.record_end), end)
        raw = data[begin:end]
        raw = raw[:-1] if format.record_end == b"\n" and raw.endswith(b"\r") else raw
        bare = raw.lstrip(b"\r\n")
        if not bare or (format.comment and bare.startswith(format.comment)):
            continue
        try:
            head = 0
            while not raw.startswith(format.record_start, head):
                if raw[head : head + 1] not in (b"\r", b"\n"):
                    raise Bad("no_record_start")
                head += 1
            row, bad = Record(raw, format, end - begin, head + len(format.record_start)).row(on_error)
        except Bad as error:
            row, bad = None, (0, None, error.code)
        if bad:
            rejects.append((begin + bad[0], number, *bad[1:], raw))
        else:
            rows.append(row)
        number += 1
    return rows, rejects if on_error == "collect" else []


class Record:
    """Texts are ranges (begin, end) of the record's bytes."""

    def __init__(self, raw: bytes, format: Any, end: int, begin: int) -> None:
        self.raw, self.format, self.end, self.begin = raw, format, end, begin
        self.separators = [s for level in format.levels for s in (level.separator, level.key) if s]

    def row(self, on_error: str) -> tuple[tuple[Any, ...], tuple[int, str, str] | None]:
        row, bad, nulls = [], None, [null.encode() for null in self.format.nulls]
        for field in self.format.schema:
            is_raw = (field.metadata or {}).get(b"raw") == b"1"
            where, content = self.value(field.name, is_raw)
            null = content is None or (content in nulls and not (is_raw and content))
            try:
                if null and not field.nullable:
                    raise Bad("missing_required")
                row.append(None if null else decode_value(content, field, self.format))
            except Bad as error:
                if not (on_error == "null" and field.nullable):
                    bad = bad or (where, field.name, error.code)
                row.append(None)
        return tuple(row), bad

    def value(self, column: str, is_raw: bool) -> tuple[int, bytes | None]:
        """Where it begins, and its bytes; where the record ends, and None, if it is not there."""
        steps, (low, high) = self.format.steps_of(column)
        whole = bare = (self.begin, len(self.raw))
        escaped = kept = inside = False  # inside: between marks, so that escapes count in any case
        for level, (key, number, rest) in zip(self.format.levels, steps, strict=False):
            met = self.parts(bare, level, number if rest else None, self.format.bare_escapes or inside)
            if level.key:  # all keys are looked at, of positions only those up to the wanted one
                met = [part for part in met if self.bytes_of(self.trimmed(part[3])) == key][number:]
                part = met[0] if met else None
            else:
                part = next((part for part in met if part[4] == number), None)
            if part is None:
                return self.end, None
            found, marks, escaped, *_ = part
            whole = bare = self.trimmed(found)
            kept = marks is not None and marks[0] == whole[0] and marks[2]
            if marks is not None and marks[:2] == whole and not kept:
                bare = (whole[0] + 1, whole[1] - 1)
                inside = True
        begin, end = whole if is_raw else bare
        if low or high is not None:
            if low >= end - begin:
                return self.end, None
            begin, end = self.trimmed((begin + low, end if high is None else min(end, begin + high)))
        content = self.raw[begin:end]
        as_written = is_raw or kept or not escaped or not (self.format.bare_escapes or inside)
        return begin, content if as_written else self.meant(content)

    def bytes_of(self, text: tuple[int, int]) -> bytes:
        return self.raw[text[0] : text[1]]

    def trimmed(self, text: tuple[int, int]) -> tuple[int, int]:
        begin, end = text
        while self.format.trim and begin < end and self.raw[begin] in b" \t":
            begin += 1
        while self.format.trim and begin < end and self.raw[end - 1] in b" \t":
            end -= 1
        return begin, end

    def escape_at(self, at: int, end: int) -> int:
        return next((len(e) for e, _ in self.format.escapes if self.raw.startswith(e, at, end)), 0)

    def meant(self, content: bytes) -> bytes:
        out = b""
        while content:
            written, text = next(
                (p for p in self.format.escapes if content.startswith(p[0])), (content[:1], content[:1])
            )
            out, content = out + text, content[len(written) :]
        return out

    def parts(self, text, level, rest_from, escapes_count):
        """Each (range of the value, first marks with whether they are kept, whether it holds escapes, range of the key,
        position), found as they are asked for: nothing behind the last one wanted is looked at."""
        begin, end = text
        at = start = begin
        position, closed, escape_end = 0, begin, -1
        key_end = value = marks = None
        escaped = False

        def may_open(at):
            while at not in (begin, closed):
                if at != escape_end and any(self.raw.endswith(s, begin, at) for s in self.separators):
                    return True
                if not self.format.trim or self.raw[at - 1] not in b" \t":
                    return False
                at -= 1
            return True

        def part(at):
            bounds = (start, at) if not level.key else (at, at) if key_end is None else (value, at)
            return bounds, marks, escaped, (start, at if key_end is None else key_end), position

        while True:
            collapses = level.collapse and (at == end or self.raw.startswith(level.separator, at, end))
            if position == rest_from and at == start and not collapses:
                yield (start, end), None, False, (start, start), position
                return
            if at >= end:
                break
            mark = next((m for m in self.format.marks if self.raw[at] == m[0]), None)
            escape = self.escape_at(at, end) if escapes_count else 0
            if mark and level.marks and may_open(at):
                close = at + 1
                while close < end and (self.escape_at(close, end) or self.raw[close] != mark[1]):
                    escaped = escaped or bool(self.escape_at(close, end))
                    close += self.escape_at(close, end) or 1
                if close >= end:
                    raise Bad("unterminated_quote")
                marks = marks or (at, close + 1, mark in self.format.kept_marks)
                at = closed = close + 1
            elif escape:
                escaped, at = True, at + escape
                escape_end = at
            elif level.key and key_end is None and self.raw.startswith(level.key, at, end):
                key_end, value = at, at + len(level.key)
                at = value
            elif self.raw.startswith(level.separator, at, end):
                if not level.collapse or at != start:
                    yield part(at)
                    position += 1
                start = at = at + len(level.separator)
                key_end = value = marks = None
                escaped = False
            else:
                at += 1
        if not level.collapse or start != end:
            yield part(end)

"""A toy format, two ways to find its records, and what they hold: records of `|`, and netstrings of them.

In: records as lists of texts. Out: bytes, indexers in Python, rows. Refuses to know: streams and engines.
"""

from __future__ import annotations

import numpy as np

PIPE, NEWLINE, HASH, BANG = (ord(c) for c in "|\n#!")


def pipes(data, fields):
    """Fields between pipes, a record a line. A line that begins with # is none, one that begins with ! is bad."""
    cuts = np.flatnonzero((data == PIPE) | (data == NEWLINE))
    last = np.flatnonzero(data[cuts] == NEWLINE)
    first = np.concatenate([[0], last[:-1] + 1])
    at = np.minimum(first[:, None] + fields, last[:, None] + 1)
    starts = np.concatenate([[0], cuts + 1])
    begins = np.where(at <= last[:, None], starts[at], -1)
    leads = data[np.minimum(starts[first], len(data) - 1)]
    kinds = np.where(leads == HASH, 1, np.where(leads == BANG, 2, 0))
    return cuts[last] + 1, begins, np.append(cuts, 0)[at], kinds


def netstring_ends(data, state):
    """`5:a|b|c,`: in the state, the digits of a length so far and a one in front; or twice the bytes to come, and one more."""
    ends, at = [], 0
    while at < len(data):
        if state & 1 == 0:  # among the digits of a length
            state //= 2
            state = 2 * (state + 1) + 1 if data[at] == ord(":") else 2 * (10 * state + int(data[at]) - 48)
            at += 1
        else:
            step = min(state // 2, len(data) - at)
            at += step
            state -= 2 * step
            if state == 1:
                ends.append(at)
                state = 0
    return ends, state


def netstrings(data, fields):
    ends, begins, stops, at = [], [], [], 0
    text = data.tobytes()
    while (colon := text.find(b":", at)) >= 0:
        end = colon + 1 + int(text[at:colon]) + 1
        if end > len(text):
            break
        cuts = [colon, *(i for i in range(colon + 1, end - 1) if text[i] == PIPE), end - 1]
        begins.append([cuts[f] + 1 if f < len(cuts) - 1 else -1 for f in fields])
        stops.append([cuts[f + 1] if f < len(cuts) - 1 else 0 for f in fields])
        ends.append(end)
        at = end
    return np.array(ends, int), np.array(begins, int), np.array(stops, int)


def as_pipes(record):
    return "|".join(record).encode() + b"\n"


def as_netstring(record):
    text = "|".join(record).encode()
    return b"%d:%s," % (len(text), text)

"""How well a figure is known that comes of a few turns: by drawing turns from them again and again.

In: seconds turn by turn, of one contestant or of two side by side. Out: how far their figure may be off, either way, as a share.
Refuses to know: what was timed.

Of two, turns are drawn in pairs, so what slows both in one round leaves their ratio alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DRAWS = 400
INSIDE = (5.0, 95.0)  # per cent of the draws
# Few turns lie closer together than many would: Student's factors for a middle 90% over the normal one, by number of turns.
WIDENED = {2: 3.84, 3: 1.78, 4: 1.43, 5: 1.30, 6: 1.22, 7: 1.18, 8: 1.15, 9: 1.13, 10: 1.11}
UNKNOWN = 1.0  # of a single turn


def doubt_of(mine: Sequence[float], theirs: Sequence[float] | None = None) -> float:
    """Of the median of `mine`, or of the ratio of medians of what both have turns of."""
    count = len(mine) if theirs is None else min(len(mine), len(theirs))
    if count < 2:
        return UNKNOWN
    drawn = np.random.default_rng(count).integers(0, count, (DRAWS, count))
    figures = np.median(np.asarray(mine)[drawn], axis=1)
    if theirs is not None:
        figures = np.median(np.asarray(theirs)[drawn], axis=1) / np.maximum(figures, np.finfo(float).tiny)
    low, middle, high = np.percentile(figures, (INSIDE[0], 50.0, INSIDE[1]))
    return float((high - low) / 2 / middle * WIDENED.get(count, 1.0)) if middle else 0.0

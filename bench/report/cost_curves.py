"""Costs as sums of terms that each have a reason: fitted so that relative errors count alike, none below nothing.

In: amounts with their seconds, terms. Out: a Curve. Refuses to know: where seconds come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Term:
    name: str
    of: Callable[[float], float]  # how often an amount pays it


@dataclass(frozen=True)
class Curve:
    terms: tuple[Term, ...]
    costs: tuple[float, ...]  # seconds, a term

    def __call__(self, amount: float) -> float:
        return sum(cost * term.of(amount) for term, cost in zip(self.terms, self.costs, strict=True))

    def cost(self, name: str) -> float:
        return next(cost for term, cost in zip(self.terms, self.costs, strict=True) if term.name == name)


ONCE = Term("once", lambda amount: 1.0)
EACH = Term("each", lambda amount: amount)


def beyond(name: str, bound: float) -> Term:
    """Of an amount what is above the bound."""
    return Term(name, lambda amount: max(0.0, amount - bound))


def at_most(name: str, bound: float) -> Term:
    return Term(name, lambda amount: min(amount, bound))


def settling(name: str, scale: float) -> Term:
    """Paid less and less as the amount goes on, as by a virtual machine that compiles what it runs."""
    return Term(name, lambda amount: 1.0 - float(np.exp(-amount / scale)))


def fitted(
    points: Points, terms: Sequence[Term] = (ONCE, EACH), known: Callable[[float], float] | None = None
) -> Curve:
    """By least squares of relative errors; `known` is a part of the seconds that is not to be fitted."""
    amounts, seconds = (np.array(column, float) for column in zip(*points, strict=True))
    left = seconds - np.array([known(amount) if known else 0.0 for amount in amounts])
    paid = np.array([[term.of(amount) for term in terms] for amount in amounts]) / seconds[:, None]
    best, least = (0.0,) * len(terms), float(np.sum((left / seconds) ** 2))
    for count in range(1, min(len(terms), len(points)) + 1):
        for some in combinations(range(len(terms)), count):
            found = np.linalg.lstsq(paid[:, some], left / seconds, rcond=None)[0]
            error = float(np.sum((paid[:, some] @ found - left / seconds) ** 2))
            if (found >= 0).all() and error < least * (1 - 1e-9):
                least, costs = error, dict(zip(some, found.tolist(), strict=True))
                best = tuple(costs.get(at, 0.0) for at in range(len(terms)))
    return Curve(tuple(terms), best)


def misfit(curve: Curve, points: Points, known: Callable[[float], float] | None = None) -> float:
    """Root of the mean square of relative errors."""
    errors = [(curve(amount) + (known(amount) if known else 0.0)) / seconds - 1 for amount, seconds in points]
    return float(np.sqrt(np.mean(np.square(errors))))

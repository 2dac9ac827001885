"""Short records of which few hold a city: CSV without quotes, with them, and JSON lines.

In: a size and a seed. Out: records of about 90 bytes; SHARES says which city stands in which share of them.
Refuses to know: who looks for it.
"""

from __future__ import annotations

from functools import partial
from random import Random

import pyarrow as pa

from bench.workload import Workload

SCHEMA = pa.schema(
    [("id", pa.int64()), ("city", pa.string()), ("price", pa.float64()), ("note", pa.string()), ("n", pa.int64())]
)
SHARES = {"0.1%": "Ulaanbaatar", "1%": "Reykjavik", "10%": "Montevideo"}
OTHERS = ("Oslo", "Lima", "Quito", "Nairobi", "Kyoto", "Porto", "Windhoek")
CITIES = (*SHARES.values(), *OTHERS)
WEIGHTS = (0.001, 0.01, 0.1, *(0.889 / len(OTHERS),) * len(OTHERS))
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu")
SHAPES = {
    "csv": "{id},{city},{price:.2f},{note},{n}\n",
    "quoted": '{id},"{city}",{price:.2f},"{note}, ""{word}""",{n}\n',
    "json": '{{"id":{id},"city":"{city}","price":{price:.2f},"note":"{note}","n":{n}}}\n',
}


def records(shape: str, size: int, seed: int) -> bytes:
    chance, bytes_made = Random(seed), 0
    made: list[str] = []
    while bytes_made < size:
        number, city = len(made), chance.choices(CITIES, WEIGHTS)[0]
        note = " ".join(chance.choices(WORDS, k=8))
        price = chance.random() * 1e4
        made.append(
            shape.format(id=number, city=city, price=price, note=note, word=WORDS[number % 12], n=number * 7 % 1000)
        )
        bytes_made += len(made[-1])
    return "".join(made).encode()


def _workload(name: str, shape: str) -> Workload:
    about = f"records of 90 bytes, few of which hold a city: {name}"
    told = {"quote": ""} if name == "csv" else {}
    make = partial(records, shape)
    return Workload(
        f"needles {name}", about, SCHEMA, ("id", "city"), make, "json" if name == "json" else "csv", told=told
    )


WORKLOADS = {name: _workload(name, shape) for name, shape in SHAPES.items()}

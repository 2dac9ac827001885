"""JSON lines that nobody tuned to: GeoJSON-like nesting, 350 keys, mostly absent keys, application logs.

In: a size and a seed. Out: lines of about that size. Refuses to know: who reads them.
"""

from __future__ import annotations

import json
import random

import pyarrow as pa

from bench.workloads.json_events import WORDS, json_workload

GEO = pa.schema(
    [
        ("type", pa.string()), ("id", pa.int64()),
        ("geometry", pa.struct([("type", pa.string()), ("coordinates", pa.list_(pa.list_(pa.list_(pa.float64()))))])),
        ("properties", pa.struct([
            ("name", pa.string()), ("population", pa.int64()), ("area", pa.float64()), ("capital", pa.bool_()),
        ])),
    ]
)  # fmt: skip


def _geo(rng: random.Random, i: int) -> str:
    x, y = rng.uniform(-180, 180), rng.uniform(-90, 90)
    ring = [[round(x + rng.gauss(0, 1), 6), round(y + rng.gauss(0, 1), 6)] for _ in range(rng.randrange(5, 60))]
    properties = {"name": rng.choice(WORDS), "population": rng.randrange(10**8), "area": round(rng.uniform(1, 1e6), 2)}
    properties["capital"] = rng.random() < 0.1
    feature = {
        "type": "Feature",
        "id": i,
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties,
    }
    return json.dumps(feature)


WIDE_KEYS = 350
WIDE = pa.schema([(f"key_{i:03d}", (pa.int64(), pa.string(), pa.float64())[i % 3]) for i in range(WIDE_KEYS)])


def _wide(rng: random.Random, i: int) -> str:
    values = (
        rng.randrange(10**6) if k % 3 == 0 else rng.choice(WORDS) if k % 3 == 1 else round(rng.random() * 1000, 3)
        for k in range(WIDE_KEYS)
    )
    return json.dumps({f"key_{k:03d}": value for k, value in enumerate(values)}, separators=(",", ":"))


SPARSE = pa.schema([(f"a{i:02d}", (pa.int64(), pa.string(), pa.float64(), pa.bool_())[i % 4]) for i in range(80)])


def _sparse(rng: random.Random, i: int) -> str:
    """About eight of eighty keys, some of them null."""
    values = {}
    for k in sorted(rng.sample(range(80), rng.randrange(4, 13))):
        value = (rng.randrange(10**5), rng.choice(WORDS), round(rng.random(), 5), rng.random() < 0.5)[k % 4]
        values[f"a{k:02d}"] = None if rng.random() < 0.1 else value
    return json.dumps(values, separators=(",", ":"))


LOGS = pa.schema(
    [
        ("ts", pa.timestamp("us")), ("level", pa.string()), ("logger", pa.string()), ("msg", pa.string()),
        ("trace_id", pa.string()),
        ("duration_ms", pa.float64()), ("ctx", pa.struct([("user", pa.string()), ("host", pa.string()), ("attempt", pa.int64())])),
    ]
)  # fmt: skip


def _log(rng: random.Random, i: int) -> str:
    message = " ".join(rng.choices([*WORDS, 'path "C:\\tmp"', "line\nbreak", "\tat frame"], k=rng.randrange(6, 40)))
    line = {
        "ts": f"2026-0{rng.randrange(1, 10)}-1{rng.randrange(10)}T0{rng.randrange(10)}:17:07.{rng.randrange(10**6):06d}",
        "level": rng.choice(["INFO", "INFO", "INFO", "WARN", "ERROR"]), "logger": ".".join(rng.choices(WORDS, k=3)), "msg": message,
        "trace_id": f"{rng.getrandbits(128):032x}", "duration_ms": round(rng.expovariate(0.02), 3),
        "ctx": {"user": rng.choice(WORDS), "host": f"node-{rng.randrange(64)}", "attempt": rng.randrange(4)},
    }  # fmt: skip
    return json.dumps(line)


WORKLOADS = [
    json_workload(
        "geojson", "polygons as lists of lists of doubles", GEO, ("id", "properties.name", "properties.area"), _geo
    ),
    json_workload(
        "350 keys", "350 keys a record, as people give to from_json", WIDE, ("key_010", "key_123", "key_340"), _wide
    ),
    json_workload(
        "absent keys", "80 possible keys, about eight there, some null", SPARSE, ("a00", "a17", "a50"), _sparse
    ),
    json_workload(
        "app logs", "application logs: escapes, hexadecimal, one object inside", LOGS, ("ts", "level", "ctx.host"), _log
    ),
]

"""CSV and JSON lines of odd shapes that nobody tuned to: each is common, and driven to where it decides what a reader costs.

In: a size and a seed. Out: header-less CSV, or lines of JSON, of about that size. Refuses to know: who reads them.
"""

from __future__ import annotations

import json
import random as chance

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workload import Workload
from bench.workloads.csv_tables import WORDS, chosen, csv_workload, fixed_point, ints, made_of, timestamps
from bench.workloads.json_events import json_workload

NONE = pa.scalar(None, pa.string())
TONGUES = [
    "東京都千代田区", "Москва, Тверская", "Αθήνα", "القاهرة", "नई दिल्ली", "서울특별시", "Zürich", "São Paulo", "Đà Nẵng",
    "🚀 launch 🎉", "קהיר", "ภูเก็ต", "Łódź", "İstanbul", "naïve café", "Ünïcödé",
]  # fmt: skip

# ------------------------------------------------------------------------------------------------------ many tongues

TEXTS = pa.schema(
    [("id", pa.int64()), ("place", pa.string()), ("said", pa.string()), ("by", pa.string()), ("at", pa.timestamp("us")),
     ("stars", pa.float64())]
)  # fmt: skip


def _tongues_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    said = [" ".join(random.choice(TONGUES, int(length))).replace(",", "、") for length in random.integers(3, 14, 300)]
    return [
        ints(np.arange(rows)),
        chosen(random, [f'"{text}"' for text in TONGUES], rows),
        chosen(random, said, rows),
        chosen(random, [text.replace(",", "") for text in TONGUES], rows),
        timestamps(random.integers(10**9, 17 * 10**8, rows)),
        fixed_point(random.integers(0, 500, rows), 2),
    ]


def _message(rng: chance.Random, i: int) -> str:
    """Half of the records with escapes for all that is no ASCII, as Python's json writes them."""
    said = " ".join(rng.choices(TONGUES, k=rng.randrange(3, 20)))
    record = {
        "id": i,
        "place": rng.choice(TONGUES),
        "said": said,
        "by": rng.choice(TONGUES),
        "likes": rng.randrange(10**4),
    }
    return json.dumps(record, ensure_ascii=i % 2 == 0)


MESSAGE = pa.schema(
    [("id", pa.int64()), ("place", pa.string()), ("said", pa.string()), ("by", pa.string()), ("likes", pa.int64())]
)

# ---------------------------------------------------------------------------------------- few bytes, or very many

PAIRS = pa.schema([("k", pa.int32()), ("v", pa.string())])
TICKS = pa.schema([("t", pa.int64()), ("v", pa.int64())])
BODIES = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("body", pa.string())])


def _pairs_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    return [ints(random.integers(0, 100, rows)), chosen(random, list("abcdefgh"), rows)]


def _bodies(size: int, seed: int) -> bytes:
    """A column of 50 to 500 KB a value, as of pages or images in base64."""
    random = np.random.default_rng([seed, 12])
    letters = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
    body = letters[random.integers(0, 64, 500_000)].tobytes()
    records, total = list[bytes](), 0
    while total < size or not records:
        length = min(int(random.integers(50_000, 500_000)), max(64, size // 4))
        records.append(f"{len(records)},{WORDS[len(records) % len(WORDS)]},{body[:length].decode()}\n".encode())
        total += len(records[-1])
    return b"".join(records)


def _tick(rng: chance.Random, i: int) -> str:
    return f'{{"t":{i},"v":{rng.randrange(100)}}}'


# ------------------------------------------------------------------------------------------ nothing, and line ends

NULLS = pa.schema([(f"n{i:02d}", (pa.int64(), pa.float64(), pa.string(), pa.date32())[i % 4]) for i in range(40)])
ENDS = pa.schema([(f"e{i:02d}", (pa.int64(), pa.string(), pa.float64())[i % 3]) for i in range(9)])


def _nulls_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    """Of forty columns one or two are there."""
    columns = []
    for i in range(40):
        days = pa.array(random.integers(0, 20_000, rows), pa.int32()).cast(pa.date32()).cast(pa.string())
        texts = (
            ints(random.integers(0, 10**6, rows)),
            fixed_point(random.integers(0, 10**6, rows), 3),
            chosen(random, WORDS, rows),
            days,
        )[i % 4]
        there = pa.array(random.random(rows) < (1.0 if i == 0 else 0.02))
        columns.append(pc.if_else(there, texts, NONE))
    return columns


def _ends_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    """Lines of Windows and of Unix behind each other, as files put together have them; nothing quoted."""
    columns = [
        (
            ints(random.integers(0, 10**5, rows)),
            chosen(random, WORDS, rows),
            fixed_point(random.integers(0, 10**5, rows), 2),
        )[i % 3]
        for i in range(9)
    ]
    windows = chosen(random, ["", "\r"], rows)
    return [*columns[:-1], pc.binary_join_element_wise(columns[-1], windows, "")]


WORKLOADS = [
    csv_workload("many tongues", "six columns, most of it text that is no ASCII", TEXTS, ("id", "place", "stars"), _tongues_block),
    csv_workload("short records", "two columns, four or five bytes a record", PAIRS, ("k",), _pairs_block),
    Workload("giant column", "three columns, one of 50 to 500 KB a value", BODIES, ("id", "kind"), _bodies),
    csv_workload("mostly nulls", "40 columns, of which one or two hold anything", NULLS, ("n00", "n13", "n26"), _nulls_block),
    Workload(
        "line ends", "nine columns, half of the lines end as on Windows", ENDS, ("e00", "e04", "e08"), made_of(_ends_block, 6),
    ),
    json_workload("messages", "text that is no ASCII, half of it as escapes", MESSAGE, ("id", "place", "likes"), _message),
    json_workload("ticks json", "two small integers a record", TICKS, ("v",), _tick),
]  # fmt: skip

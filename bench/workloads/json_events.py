"""Seeded NDJSON inputs. In: a size in bytes and a seed. Out: lines of about that size.

* flat: events of 12 keys: ints, floats, times, short strings, booleans, a nullable one.
* shuffled: the same events, keys in a new order in every record.
* tweets: nested records of 1 to 3 KB: two objects with users, entities with lists of objects, text with escapes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from bench.workload import Workload

BLOCK = 4000  # records made anew at most; a larger input repeats them
WORDS = "time year people way day man thing woman life child world school state family student group country".split()  # noqa: SIM905


def made_of(record: Callable[[random.Random, int], str]) -> Callable[[int, int], bytes]:
    def make(size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        lines, total = [], 0
        for number in range(BLOCK):
            lines.append(record(rng, number) + "\n")
            total += len(lines[-1])
            if total >= size:
                break
        block = "".join(lines).encode()
        return block * max(1, size // len(block))

    return make


def json_workload(
    name: str, about: str, schema: pa.Schema, few: tuple[str, ...], record: Callable[[random.Random, int], str]
) -> Workload:
    return Workload(name, about, schema, few, made_of(record), "json")


def _event(rng: random.Random, i: int) -> dict[str, Any]:
    return {
        "id": rng.randrange(10**9, 10**12),
        "type": rng.choice(["click", "view", "purchase", "refund"]),
        "user_id": rng.randrange(10**6),
        "session": f"{rng.getrandbits(64):016x}",
        "price": round(rng.uniform(0, 1000), 2),
        "quantity": rng.randrange(1, 20),
        "created_at": f"2024-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}T{rng.randrange(24):02}:{rng.randrange(60):02}:07",
        "ok": rng.random() < 0.8,
        "score": round(rng.random(), 6),
        "country": rng.choice(["DE", "FR", "US", "JP", "BR"]),
        "referrer": None if rng.random() < 0.1 else "https://example.org/" + "/".join(rng.choices(WORDS, k=3)),
        "latency_ms": rng.randrange(5000),
    }


EVENT_SCHEMA = pa.schema(
    [
        ("id", pa.int64()), ("type", pa.string()), ("user_id", pa.int64()), ("session", pa.string()), ("price", pa.float64()),
        ("quantity", pa.int32()), ("created_at", pa.timestamp("us")), ("ok", pa.bool_()), ("score", pa.float64()),
        ("country", pa.string()), ("referrer", pa.string()), ("latency_ms", pa.int32()),
    ]
)  # fmt: skip


def _flat(rng: random.Random, i: int) -> str:
    return json.dumps(_event(rng, i), separators=(",", ":"))


def _shuffled(rng: random.Random, i: int) -> str:
    pairs = list(_event(rng, i).items())
    rng.shuffle(pairs)
    return json.dumps(dict(pairs), separators=(",", ":"))


def _user(rng: random.Random) -> dict[str, Any]:
    return {
        "id": rng.randrange(10**9), "name": " ".join(rng.choices(WORDS, k=2)),
        "screen_name": rng.choice(WORDS) + str(rng.randrange(99)),
        "location": rng.choice(["", "Tōkyō", "Berlin", None]), "description": " ".join(rng.choices(WORDS, k=rng.randrange(5, 20))),
        "followers_count": rng.randrange(10**6), "friends_count": rng.randrange(5000), "verified": rng.random() < 0.1,
        "profile_image_url": f"http://pbs.example.com/profile_images/{rng.getrandbits(60)}/photo_normal.jpeg",
    }  # fmt: skip


def _tweet(rng: random.Random, i: int) -> str:
    text = " ".join(rng.choices([*WORDS, "\n", '"quoted"', "日本語", "#tag", "@name"], k=rng.randrange(8, 30)))
    tweet = {
        "created_at": "Sun Aug 31 00:29:15 +0000 2014", "id": 505874924095815681 + i, "text": text,
        "source": '<a href="http://example.com" rel="nofollow">app</a>',
        "truncated": False, "user": _user(rng), "retweet_count": rng.randrange(1000), "favorite_count": rng.randrange(1000),
        "entities": {
            "hashtags": [{"text": rng.choice(WORDS), "indices": [n, n + 8]} for n in range(rng.randrange(4))],
            "urls": [{"url": f"http://t.example.com/{rng.getrandbits(40):x}", "indices": [n, 22]} for n in range(rng.randrange(3))],
            "user_mentions": [
                {"screen_name": rng.choice(WORDS), "id": rng.randrange(10**9), "indices": [3, 12]} for _ in range(rng.randrange(3))
            ],
        },
        "lang": rng.choice(["ja", "en", "de"]),
    }  # fmt: skip
    if rng.random() < 0.4:
        tweet["retweeted_status"] = {"id": rng.randrange(10**15), "text": text[::-1], "user": _user(rng)}
    return json.dumps(tweet, separators=(",", ":"), ensure_ascii=False)


_USER = pa.struct(
    [
        ("id", pa.int64()), ("name", pa.string()), ("screen_name", pa.string()), ("location", pa.string()),
        ("description", pa.string()), ("followers_count", pa.int64()), ("friends_count", pa.int64()), ("verified", pa.bool_()),
        ("profile_image_url", pa.string()),
    ]
)  # fmt: skip
_INDICES = ("indices", pa.list_(pa.int64()))
TWEET_SCHEMA = pa.schema(
    [
        ("created_at", pa.string()), ("id", pa.int64()), ("text", pa.string()), ("source", pa.string()), ("truncated", pa.bool_()),
        ("user", _USER), ("retweet_count", pa.int64()), ("favorite_count", pa.int64()),
        ("entities", pa.struct([
            ("hashtags", pa.list_(pa.struct([("text", pa.string()), _INDICES]))),
            ("urls", pa.list_(pa.struct([("url", pa.string()), _INDICES]))),
            ("user_mentions", pa.list_(pa.struct([("screen_name", pa.string()), ("id", pa.int64()), _INDICES]))),
        ])),
        ("lang", pa.string()), ("retweeted_status", pa.struct([("id", pa.int64()), ("text", pa.string()), ("user", _USER)])),
    ]
)  # fmt: skip

FEW_KEYS = ("id", "user_id", "price", "country")
WORKLOADS = [
    json_workload("flat", "events of 12 keys, in one order", EVENT_SCHEMA, FEW_KEYS, _flat),
    json_workload("shuffled", "the same events, keys in a new order in every record", EVENT_SCHEMA, FEW_KEYS, _shuffled),
    json_workload(
        "tweets", "nested records of 1 to 3 KB, lists of objects, escapes",
        TWEET_SCHEMA, ("id", "user.screen_name", "retweet_count", "lang"), _tweet,
    ),
]  # fmt: skip

"""Text that is neither CSV nor JSON: access logs, logfmt, fixed width, HL7 messages, and records of a toy format.

In: a size and a seed. Out: whole records of about that size. Refuses to know: how they are declared, who reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pyarrow as pa

from bench.workload import Workload

TEXT, NUMBER = pa.string(), pa.int64()
LOG = pa.schema([("host", TEXT), ("target", TEXT), ("status", pa.int16()), ("bytes", NUMBER), ("agent", TEXT)])
KEYS = pa.schema([("level", TEXT), ("ms", pa.float64()), ("user", TEXT), ("msg", TEXT)])
FIXED = pa.schema([("id", NUMBER), ("name", TEXT), ("city", TEXT), ("amount", pa.float64()), ("day", TEXT)])
WIDTHS = (8, 20, 16, 10, 10)
HL7 = pa.schema([("id", TEXT), ("patient", TEXT), ("family", TEXT), ("sex", TEXT), ("ward", TEXT)])
PIPES = pa.schema([("id", NUMBER), ("text", TEXT), ("price", pa.float64())])
AGENTS = ("Mozilla/5.0 (X11; Linux x86_64) Gecko/2010 Firefox/121.0", "curl/8.4.0", "Mozilla/5.0 (compatible; bot/2.1)")
CITIES = ("Oslo", "Rome", "Lima", "Reykjavik", "Ulaanbaatar")


def log_line(r: Random) -> str:
    n = r.randrange(1 << 30)
    return (
        f"10.{n % 250}.{n % 199}.{n % 97} - - [29/Feb/2024:10:{n % 60:02d}:{n % 59:02d} +0000] "
        f'"GET /path/{n % 1000}/index.html HTTP/1.1" {200 + n % 5} {n % 99999} "https://example.org/{n % 77}" '
        f'"{AGENTS[n % 3]}"\n'
    )


def logfmt_line(r: Random) -> str:
    n = r.randrange(1 << 30)
    return (
        f"time=2024-02-29T10:{n % 60:02d}:00Z level={('info', 'warn')[n % 2]} ms={n % 9999 / 8} user=u{n % 977} "
        f'path=/a/{n % 577} msg="took {n % 31} steps"\n'
    )


def fixed_line(r: Random) -> str:
    n = r.randrange(1 << 30)
    amount = f"{n % 999999 / 100:.2f}"
    return f"{n % 9999999:<8d}{'name ' + str(n % 7919):<20}{CITIES[n % 5]:<16}{amount:>10}2024-02-{n % 28 + 1:02d}\n"


def message(r: Random) -> str:
    n = r.randrange(1 << 30)
    return (
        f"\vMSH|^~\\&|SND|FAC|RCV|FAC|20240229101112||ADT^A01|{n:010d}|P|2.5\rEVN|A01|20240229101112\r"
        f"PID|1||{n % 999983:06d}^^^H^MR||DOE{n % 97}^JANE^Q||19700101|F|||1 MAIN^^OSLO^^0150\r"
        f"PV1|1|I|W{n % 9}^12^1||||1234^DOC^TOR\r\x1c\r"
    )


def piped(r: Random) -> str:
    n = r.randrange(1 << 30)
    return f"{n % 999999}|some text of a record, which is a bit longer {n % 97}|{n % 8000 / 8}|more|{n}|and more text|end\n"


def made_of(record: Callable[[Random], str]) -> Callable[[int, int], bytes]:
    def make(size: int, seed: int) -> bytes:
        chance, parts, bytes_made = Random(seed), [], 0
        while bytes_made < size:
            parts.append(record(chance))
            bytes_made += len(parts[-1])
        return "".join(parts).encode()

    return make


WORKLOADS = {
    name: Workload(name, about, schema, few, made_of(record), kind)
    for name, about, schema, few, record, kind in (
        ("access log", "lines of a web server's combined log", LOG, ("host", "status"), log_line, "log"),
        ("logfmt", "keys and values, a line a record", KEYS, ("level", "ms"), logfmt_line, "logfmt"),
        ("fixed width", "five values a line, at the same bytes", FIXED, ("id", "amount"), fixed_line, "fwf"),
        ("hl7", "HL7 version 2 messages in MLLP frames", HL7, ("id", "family"), message, "hl7"),
        ("toy format", "seven fields between pipes, 100 bytes", PIPES, ("id",), piped, "pipes"),
    )
}

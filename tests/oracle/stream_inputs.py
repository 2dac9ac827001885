"""CSV inputs for streams: dialects by name, an input with all that is tricky, and random ones.

In: a dialect's options and a random source. Out: bytes. Refuses to know: what they mean.
"""

from __future__ import annotations

import random
from typing import Any

DIALECTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "unquoted": {"quote": None},
    "crlf": {"record_delimiter": "\r\n"},
    "long delimiters": {"delimiter": "||", "record_delimiter": "<e>\n"},
    "repeating delimiter": {"delimiter": "::", "record_delimiter": "aab"},
    "eight bytes": {"delimiter": "12345678", "record_delimiter": "abcdefgh", "quote": None},
    "escape": {"escape": "\\"},
    "escape only": {"escape": "\\", "quote": None},
    "comment": {"comment": "#"},
    "header": {"header": True},
    "header and comment": {"header": True, "comment": "#"},
    "trim": {"trim": True},
    "trim, left": {"trim": "left"},
    "trim, right": {"trim": "right"},
    "pad": {"ragged": "pad"},
}


def tricky_input(dialect: dict[str, Any]) -> bytes:
    """Every construct of the dialect once or twice, valid and not, and no end of the last record."""
    field, end = dialect.get("delimiter", ","), dialect.get("record_delimiter", "\n")
    quote = dialect.get("quote", '"')

    def record(*fields: str) -> str:
        return field.join(fields) + end

    out = [""]
    if dialect.get("header"):
        out = [end, record("a", "b", "c")]
    out += [record("7", "x", "1.5"), end, record("", "", ""), record("no number", "é", "2.5"), end + end]
    if quote:
        out += [
            record("8", f"{quote}a{end}{field}b{end}{quote}", "1"),
            record("9", f"{quote}{quote}", "3"),
            record("10", f"{quote}{quote * 2}{quote}", f"{quote}4{quote}"),
            record("11", f"{quote}x{quote}y", "5"),
            record(f"{quote}12{quote}", f"{quote}{end}{quote * 2}{end}{quote}", "oops"),
        ]
    if dialect.get("escape"):
        out += [record("20", f"e\\{field}f\\{end}g\\\\", "1"), record("21", "\\", "2"), record("22", "", "1")]
    if dialect.get("comment"):
        out += [f'#a comment with a " in it{field}{end}', f"#{end}", record("30", "#", "1")]
    if end == "\n":
        out += [record("40", "r", "1\r"), "\r\n", record("41", "\r", "\r")]
    out += [record("1", "2"), record("1", "2", "3", "4"), record("50", "last but one", "1e3")]
    return "".join([*out, field.join(["51", "unterminated", "9"])]).encode()


def random_input(chance: random.Random, dialect: dict[str, Any]) -> bytes:
    field, end = dialect.get("delimiter", ","), dialect.get("record_delimiter", "\n")
    quote = dialect.get("quote", '"')
    tokens = ["1", "22", "x", "yy", "3.5", " ", "", "é", "a", "b", field, field, field, field, end, end]
    if quote:
        tokens += ['"', '""', '"a\n"', f'"p{field}q"', f'"m{end}n"', '"']
    if dialect.get("escape"):
        tokens += ["\\", "\\" + field, "\\" + end, "\\\\", '\\"']
    if dialect.get("comment"):
        tokens += ["#", f"{end}#c{end}", f'{end}#"{end}']
    if chance.random() < 0.2:
        tokens += ["\r"]
    out = ["\ufeff"] if chance.random() < 0.1 else []
    if dialect.get("header"):
        while chance.random() < 0.3:
            out.append(end)
        if dialect.get("comment") and chance.random() < 0.3:
            out.append('#"h' + end)
        if chance.random() < 0.95:
            out.append(field.join("abc") + end)
    for _ in range(chance.randrange(0, 12)):
        if chance.random() < 0.6:
            text = ["", "hello", "é", f'"x{field}y{end}z""w"' if quote else "zz", f'"{end}{end}"' if quote else "q"]
            number = str(chance.randrange(1000)) if chance.random() < 0.9 else "bad"
            out.append(field.join([number, chance.choice(text), chance.choice(["1.5", "", "2e3", "oops"])]) + end)
        else:
            out.append("".join(chance.choice(tokens) for _ in range(chance.randrange(0, 10))))
    return "".join(out).encode()

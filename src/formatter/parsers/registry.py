"""Which parser a column's metadata names. In: names, types, functions. Out: parsers, and checks of texts for the engine. Refuses
to know formats.

The engine decodes such a column as text and asks the parser, block by block, which texts are no values: those are findings with
their places, as those of built-in types are. The batches' texts then become values once, when they leave.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from formatter import _core
from formatter.errors import OptionError, SchemaError
from formatter.foreign_code import keep
from formatter.parsers.per_value import PerValue

Parse = Callable[[pa.Array], pa.Array]
Family = Callable[[str], tuple[pa.DataType, Parse | PerValue]]
METADATA_KEY = b"parser"


@dataclass(frozen=True)
class NativeParse:
    """An object whose capsule holds a parser in C."""

    source: Any

    def values(self, texts: pa.Array, kind: pa.DataType) -> pa.Array:
        if texts.offset:
            texts = texts.take(pa.array(np.arange(len(texts))))
        present, offsets, text = texts.buffers()
        present = present if texts.null_count else None
        values, failed = _core.parse_texts(
            self.source.__formatter_parser__(), len(texts), present, offsets, text, kind.bit_width // 8
        )
        valid = ~np.frombuffer(failed, np.uint8)
        if present is not None:
            valid &= np.frombuffer(present, np.uint8, len(valid))
        return pa.Array.from_buffers(kind, len(texts), [pa.py_buffer(valid), pa.py_buffer(values)])


@dataclass(frozen=True)
class Parser:
    name: str
    arrow_type: pa.DataType
    parse: Parse | PerValue | NativeParse
    shipped: bool = False

    def values(self, texts: pa.Array) -> pa.Array:
        """One value a text, null where there is none or where it is none."""
        if isinstance(self.parse, PerValue | NativeParse):
            return self.parse.values(texts, self.arrow_type)
        found = self.parse(texts)
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
        if not isinstance(found, pa.Array) or found.type != self.arrow_type or len(found) != len(texts):
            shown = f"{len(found)} of {found.type}" if isinstance(found, pa.Array) else type(found).__name__
            raise SchemaError(
                f"parser {self.name!r}: expected an array of {len(texts)} values of {self.arrow_type}, found {shown}"
            )
        return found

    def failed(self, count: int, offsets: bytes, text: bytes, present: bytes) -> bytes | None:
        """The bits of texts that are no values, as 64-bit words; None: all are. What the parser raises is kept for the
        thread's next `raise_kept`."""
        try:
            texts = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text), pa.py_buffer(present))
            nulls = self.values(texts).is_null()
            bad = np.asarray(nulls) & np.asarray(texts.is_valid())
        except Exception as error:
            error.add_note(f"in parser {self.name!r}, which was given {count} texts")
            keep(error)
            bad = np.ones(count, bool)
        if not bad.any():
            return None
        return np.packbits(np.pad(bad, (0, -count % 64)), bitorder="little").tobytes()


_generation = 0
_parsers: dict[str, Parser] = {}


def register_parser(name: str, arrow_type: pa.DataType, parse: Any) -> None:
    """Makes values of one's own: columns of text formats whose field has the metadata `parser=name` are read by `parse`.

    Args:
        name: What the metadata says. A name that is taken is taken over.
        arrow_type: Of such columns.
        parse: Takes texts as a `pyarrow.StringArray`, null where there is none, and gives an array of `arrow_type`, as
            long, null where a text is no value: that is an `invalid` with its place. Called by any thread, for some
            thousand texts at a time, for some twice; it depends on nothing but the texts. `fm.per_value` makes one of a
            function of one text. Or an object with a method `__formatter_parser__`, for one in C (`fm.get_include`), where
            values of the type are whole bytes of a fixed number.

    Raises:
        OptionError: A name that is none, or what cannot be called.
        SchemaError: A type that is none.

    Returns:
        Nothing.

    Example:
        >>> import formatter as fm, pyarrow as pa, pyarrow.compute as pc
        >>> fm.register_parser("swapped", pa.string(), pc.utf8_reverse)
        >>> schema = pa.schema([pa.field("code", pa.string(), metadata={"parser": "swapped"})])
        >>> fm.read(b"abc\\ndef\\n", fm.Csv(schema)).to_pylist()
        [{'code': 'cba'}, {'code': 'fed'}]
    """
    if not isinstance(name, str) or not name or ":" in name:
        raise OptionError(f"register_parser: name: expected a name without ':', found {name!r}")
    if not isinstance(arrow_type, pa.DataType):
        raise SchemaError(f"register_parser: arrow_type: expected a pyarrow.DataType, found {arrow_type!r}")
    if not callable(parse) and not isinstance(parse, PerValue) and not hasattr(parse, "__formatter_parser__"):
        raise OptionError(f"register_parser: parse: expected a function of an array of texts, found {parse!r}")
    if hasattr(parse, "__formatter_parser__"):
        if not _has_whole_bytes(arrow_type):
            raise SchemaError(
                f"register_parser: arrow_type: native parsers make values of fixed width, not {arrow_type}"
            )
        parse = NativeParse(parse)
    global _generation
    _parsers[name] = Parser(name, arrow_type, parse)
    _generation += 1


def _has_whole_bytes(kind: pa.DataType) -> bool:
    try:
        return bool(kind.bit_width % 8 == 0) and not pa.types.is_nested(kind) and not pa.types.is_dictionary(kind)
    except ValueError:
        return False


def generation() -> int:
    """Another one after each registration."""
    return _generation


@functools.cache
def _shipped() -> tuple[dict[str, Parser], dict[str, Family]]:
    """By name, and by what stands in front of a colon: `date:%d.%m.%Y`."""
    # Imported when a name is looked for: few columns name one, and what these modules need takes a fifth of the import of all.
    from formatter.parsers import dates, identifiers, numbers, places

    simple: dict[str, Parser] = {}
    for module in (numbers, identifiers, dates, places):
        simple |= {name: Parser(name, kind, parse, shipped=True) for name, (kind, parse) in module.PARSERS.items()}
    return simple, {**dates.FAMILIES, **numbers.FAMILIES}


def parser_named(name: str) -> Parser | None:
    if name in _parsers:
        return _parsers[name]
    simple, families = _shipped()
    family, _, argument = name.partition(":")
    if argument and family in families:
        kind, parse = families[family](argument)
        return Parser(name, kind, parse, shipped=True)
    return simple.get(name)


def parser_of(field: pa.Field, owner: str) -> Parser | None:
    """What the field's metadata names, if it names one."""
    name = (field.metadata or {}).get(METADATA_KEY)
    if name is None:
        return None
    parser = parser_named(name.decode())
    if parser is None:
        simple, families = _shipped()
        known = ", ".join([*sorted({*_parsers, *simple}), *(f"{family}:..." for family in sorted(families))])
        raise SchemaError(
            f"{owner}: column {field.name!r}: no parser {name.decode()!r} is registered, there is {known}; "
            "register it with fm.register_parser before the format is used"
        )
    if parser.arrow_type != field.type:
        raise SchemaError(
            f"{owner}: column {field.name!r}: parser {parser.name!r} makes {parser.arrow_type}, the schema says {field.type}"
        )
    return parser


def parsers_in(schema: pa.Schema, owner: str) -> dict[str, Parser]:
    """By column. Only whole columns have parsers."""
    found: dict[str, Parser] = {}
    for field in schema:
        parser = parser_of(field, owner)
        if parser is not None:
            found[field.name] = parser
        elif pa.types.is_nested(field.type) and (inner := _named_inside(field.type)):
            raise SchemaError(f"{owner}: column {field.name!r}: {inner!r} names a parser; only whole columns have one")
    return found


def _named_inside(kind: pa.DataType) -> str | None:
    for i in range(kind.num_fields):
        field = kind.field(i)
        if METADATA_KEY in (field.metadata or {}):
            return str(field.name)
        if pa.types.is_nested(field.type) and (inner := _named_inside(field.type)):
            return inner
    return None


def as_text(schema: pa.Schema, parsers: dict[str, Parser]) -> pa.Schema:
    """As the engine reads it: columns with parsers are text."""
    fields = [field.with_type(pa.string()) if field.name in parsers else field for field in schema]
    return pa.schema(fields, metadata=schema.metadata)


def carried(schema: pa.Schema) -> tuple[Parser, ...]:
    """What a pickled format takes along: the parsers its columns name, functions by their module and name."""
    names = {field.metadata[METADATA_KEY].decode() for field in schema if METADATA_KEY in (field.metadata or {})}
    found = [_parsers.get(name) for name in sorted(names)]
    return tuple(parser for parser in found if parser is not None and not parser.shipped)


def unpacked(parsers: tuple[Parser, ...]) -> None:
    """Registers what came with a format, where the name is free."""
    for parser in parsers:
        _parsers.setdefault(parser.name, parser)

"""Why an input is read the way it is. In: a source, and a format for it. Out: each option with what in the sample speaks for
or against it, each column with its first values, what is not read; as text, and as HTML where notebooks show it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from html import escape

import pyarrow as pa

from formatter.errors import FormatError, OptionError, SchemaError, shorten
from formatter.formats import Csv, Json
from formatter.inference.csv import Inferred, infer_csv
from formatter.inference.dialect import Decision
from formatter.inference.json import infer_json
from formatter.inference.json_records import JsonSample, holds_record
from formatter.inference.sample import decoded, take_bytes
from formatter.mistaken_arguments import kind_of, named_options
from formatter.readers import read
from formatter.sources import Source

VALUES_SHOWN = 3
ROWS_SHOWN = 5
REJECTS_SHOWN = 3
VALUE_WIDTH = 30


@dataclass(frozen=True)
class ExplainedColumn:
    """A column of an `fm.Explanation`.

    Attributes:
        name: Its name.
        type: Its type in the format.
        why: Why it has that type, or what its values speak for.
        values: Its first values, as text.

    Example:
        >>> import formatter as fm
        >>> fm.explain(b"id;price\\n1;2,5\\n2;3,75\\n").columns[1].values
        ('2.5', '3.75')
    """

    name: str
    type: pa.DataType
    why: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """What `fm.explain` found: print it, or let a notebook show it.

    Attributes:
        format: The format that is explained.
        decisions: Its options, each with a value and why.
        columns: Its columns, each with a type, why, and the first values.
        doubts: What the sample leaves open, or says against the format.
        rows: The sample's first rows, as the format reads them.
        records: How many records of the sample were read.
        rejects: What is wrong with the first of those that cannot be read.
        rejected: How many cannot be read.

    Example:
        >>> import formatter as fm
        >>> print(fm.explain(b"id;price\\n1;2,5\\n2;3,75\\n"))
        csv: 2 records of the sample are read, 0 are not
        options
          delimiter  ';'   3 of the first 3 records have 2 fields with it
          header     True  'id' is no number as '1' below it
          decimal    ','   numbers with a decimal comma, like '2,5'
        columns
          id     int64   whole numbers                             1, 2
          price  double  numbers with a decimal comma, like '2,5'  2.5, 3.75
    """

    format: Csv | Json
    decisions: tuple[Decision, ...]
    columns: tuple[ExplainedColumn, ...]
    doubts: tuple[str, ...]
    rows: pa.Table
    records: int
    rejects: tuple[str, ...]
    rejected: int

    def __str__(self) -> str:
        lines = [self._heading(), "options", *_aligned((d.option, repr(d.value), d.why) for d in self.decisions)]
        lines += ["columns", *_aligned((c.name, str(c.type), c.why, ", ".join(c.values)) for c in self.columns)]
        for title, told in (("doubts", self.doubts), ("not read", self.rejects)):
            if told:
                lines += [title, *(f"  {line}" for line in told)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = [[_short(value) for value in row.values()] for row in self.rows.to_pylist()]
        parts = [
            f"<p>{escape(self._heading())}</p>",
            _html_table(("option", "value", "why"), ((d.option, repr(d.value), d.why) for d in self.decisions)),
            _html_table(
                ("column", "type", "why", "values"),
                ((c.name, str(c.type), c.why, ", ".join(c.values)) for c in self.columns),
            ),
            _html_table(self.rows.schema.names, shown) if shown else "",
            *(_html_list(title, told) for title, told in (("doubts", self.doubts), ("not read", self.rejects)) if told),
        ]
        return "\n".join(part for part in parts if part)

    def _heading(self) -> str:
        return f"{self.format.kind}: {self.records} records of the sample are read, {self.rejected} are not"


@named_options
def explain(
    source: Source, format: Csv | Json | None = None, *, rows: int = 10_000, codec: str | None = None
) -> Explanation:
    """Says what a format takes an input for, and what in its first records speaks for that or against it.

    Args:
        source: As for `fm.read`; of several inputs, the first.
        format: The format to explain. None: that which `fm.infer` finds, of CSV.
        rows: How many records are looked at.
        codec: As for `fm.read`.

    Returns:
        An `fm.Explanation`; its text is what `print` shows.

    Raises:
        OptionError: An argument is out of its range, or the format has nothing to be explained.
        OSError: The source cannot be read.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> wrong = fm.Csv(pa.schema([("id", pa.int64())]), header=True)
        >>> print(fm.explain(b"id;price\\n1;2,5\\n2;3,75\\n", wrong).decisions[0].why)
        given; the sample speaks for ';': 3 of the first 3 records have 2 fields with it
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise OptionError(f"explain: rows: expected a whole number from 1, found {rows!r}")
    enough = holds_record if isinstance(format, Json) else lambda data: True
    data, whole = take_bytes(source, codec, enough)
    if format is None or isinstance(format, Csv):
        return _explain_csv(data, whole, format, rows)
    if isinstance(format, Json):
        return _explain_json(data, whole, format, rows)
    raise OptionError(f"explain: format: expected fm.Csv, fm.Json or None, found {kind_of(format)}")


def _explain_csv(data: bytes, whole: bool, given: Csv | None, rows: int) -> Explanation:
    inferred = infer_csv(decoded(data, whole), rows)
    format = given or inferred.format
    decisions = [
        Decision(d.option, getattr(format, d.option, d.value), d.why)
        for d in inferred.dialect.decisions.values()
        if given is None and (d.option != "encoding" or d.value != "utf-8")
    ]
    if given is not None:
        decisions = list(_compared(given, inferred))
    types = {
        field.name: (field.type, found.why)
        for field, (_, found) in zip(inferred.format.schema, inferred.columns, strict=True)
    }
    whys = {name: _why_type(format.schema.field(name).type, types.get(name)) for name in format.schema.names}
    return _explained(format, data, whole, rows, decisions, whys, inferred.doubts if given is None else [])


def _compared(given: Csv, inferred: Inferred) -> Iterable[Decision]:
    """The options of a format that was given, where they or the sample say more than the defaults do."""
    for name in (field.name for field in fields(Csv) if field.name != "schema"):
        value, found = getattr(given, name), inferred.dialect.decisions.get(name)
        spoken = getattr(inferred.format, name)
        if found is not None and spoken == value and (name != "encoding" or value != "utf-8"):
            yield Decision(name, value, found.why)
        elif spoken != value:
            why = found.why if found is not None else "nothing in it asks for more than the default"
            yield Decision(name, value, f"given; the sample speaks for {spoken!r}: {why}")
        elif name in given.asked:
            yield Decision(name, value, "given")


def _why_type(kind: pa.DataType, found: tuple[pa.DataType, str] | None) -> str:
    if found is None:
        return "given"
    return found[1] if found[0] == kind else f"given; its values speak for {found[0]}: {found[1]}"


def _explain_json(data: bytes, whole: bool, given: Json, rows: int) -> Explanation:
    try:
        inferred, doubts = infer_json([JsonSample(data, whole)], rows)
    except FormatError as error:
        inferred, doubts = given, [str(error)]
    why = f"the sample speaks for {inferred.records!r}"
    decisions = [Decision("records", given.records, why if given.records != inferred.records else "as in the sample")]
    types = dict(zip(inferred.schema.names, inferred.schema.types, strict=True))
    whys = {}
    for field in given.schema:
        found = types.get(field.name)
        same = found is None or found == field.type
        whys[field.name] = (
            ("given" if found is None else "as its values") if same else f"given; its values speak for {found}"
        )
    return _explained(given, data, whole, rows, decisions, whys, doubts if given == inferred else [])


def _explained(
    format: Csv | Json,
    data: bytes,
    whole: bool,
    rows: int,
    decisions: list[Decision],
    whys: dict[str, str],
    doubts: list[str],
) -> Explanation:
    rejects: list[pa.Table] = []
    may_be_cut = not whole and getattr(format, "records", "lines") != "lines"  # where a record ends, none can tell here
    cut = data if whole or may_be_cut else data[: data.rfind(b"\n") + 1]
    try:
        table = read(cut, format, on_error="collect", rejects=rejects, threads=1)
        wrong = rejects[0].to_pylist()
        if may_be_cut and wrong and wrong[-1]["record"] == table.num_rows + len(wrong) - 1:
            wrong.pop()
        found = [reject["message"] for reject in wrong]
    except (FormatError, SchemaError) as error:
        table, found = format.schema.empty_table(), [str(error)]
    columns = []
    for field in format.schema:
        values = [value for value in table[field.name].slice(0, rows).to_pylist()[:1000] if value is not None]
        shown = tuple(dict.fromkeys(map(_short, values)))[:VALUES_SHOWN]
        columns.append(ExplainedColumn(field.name, field.type, whys[field.name], shown))
    more = [f"and {len(found) - REJECTS_SHOWN} more"] if len(found) > REJECTS_SHOWN else []
    return Explanation(
        format, tuple(decisions), tuple(columns), tuple(doubts), table.slice(0, ROWS_SHOWN), table.num_rows,
        tuple(found[:REJECTS_SHOWN] + more), len(found),
    )  # fmt: skip


def _short(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    plain = repr(text)[1:-1] if isinstance(value, str) else text
    return plain if len(plain) <= VALUE_WIDTH else f"{plain[: VALUE_WIDTH - 3]}..."


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    cells = [[_one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))] if cells else []
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    ]


def _one_line(text: str) -> str:
    return text if text.isprintable() else shorten(text)


def _html_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _html_list(title: str, lines: Iterable[str]) -> str:
    return f"<p>{escape(title)}</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"

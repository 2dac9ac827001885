"""What a schema lacks, as its data shows it.

In: the column of what was rescued. Out: changes, each with its evidence, and a format that has them. State is one small file,
replaced as a whole, so that who was killed goes on where the last change was noticed. Refuses to know: how records are read.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from formatter.checkpoints import CheckpointError
from formatter.drift.widening import Members, Number, Rules, quoted, read_text, sql_type, usable, widened
from formatter.errors import OptionError, SchemaError
from formatter.forked_locks import renewed_in_children
from formatter.formats import Csv, Json
from formatter.mistaken_arguments import kind_of
from formatter.plans import with_rescue

POLICIES = ("rescue", "add", "fail")
EXAMPLES_MOST, EXAMPLE_MOST = 3, 80
STATE_VERSION = 1
READ = json.JSONDecoder(parse_int=Number, parse_float=Number, object_pairs_hook=Members).decode


class DriftError(SchemaError):
    """The data has what the schema lacks, and the policy is to fail.

    Attributes:
        changes: What the schema lacks.
        ddl: The statements that would give it to the table.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> watch = fm.SchemaWatch(fm.Json(pa.schema([("id", pa.int32())])), policy="fail", table="orders")
        >>> try:
        ...     watch.observe(fm.read(b'{"id": 1, "price": 1.5}', watch.format))
        ... except fm.DriftError as error:
        ...     print(*error.ddl)
        ALTER TABLE orders ADD COLUMNS (price DOUBLE)
    """

    def __init__(self, message: str, changes: tuple[SchemaChange, ...] = (), ddl: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.changes = changes
        self.ddl = ddl

    def __reduce__(self) -> tuple[Any, ...]:
        return DriftError, (str(self), self.changes, self.ddl)


@dataclass(frozen=True)
class SchemaChange:
    """A column that the schema lacks, or whose type is too narrow.

    Attributes:
        column: Its name.
        before: Its field in the schema, or None: it has none.
        after: The field that holds every value seen so far.
        count: How many records showed it, at least.
        first: The first place that did.
        examples: The first values that did, as they were written.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> watch = fm.SchemaWatch(fm.Json(pa.schema([("id", pa.int32())])))
        >>> change, = watch.observe(fm.read(b'{"id": 99999999999}', watch.format), place="day 1")
        >>> change.column, str(change.before.type), str(change.after.type), change.first, change.examples
        ('id', 'int32', 'int64', 'day 1, row 0', ('99999999999',))
    """

    column: str
    before: pa.Field | None
    after: pa.Field
    count: int
    first: str
    examples: tuple[str, ...]

    def ddl(self, table: str) -> str | None:
        """The statement that changes a table so.

        Args:
            table: What the table is called.

        Returns:
            SQL, or None where the table's type stays: text that takes any value from now on.
        """
        name, kind = quoted(self.column), sql_type(self.after.type)
        if self.before is None:
            return f"ALTER TABLE {table} ADD COLUMNS ({name} {kind})"
        return None if kind == sql_type(self.before.type) else f"ALTER TABLE {table} ALTER COLUMN {name} TYPE {kind}"


@dataclass
class _Evidence:
    field: pa.Field
    count: int = 0
    first: str = ""
    examples: tuple[str, ...] = ()


class SchemaWatch:
    """Notices fields that appear and values that do not fit, and what to do about them. For several threads.

    Types only grow: whole numbers to longer ones, to doubles or decimals, anything to text; columns keep their order, and new
    ones, all nullable, come behind them.

    Args:
        format: `fm.Csv` or `fm.Json`, by which reading begins. What is rescued goes to its `rescue`, or "_rescued".
        policy: "rescue": changes are noticed, `format` stays; "add": `format` has them from then on; "fail": the first is an
            error with the DDL to apply.
        state: A file that keeps what was noticed, replaced whole at every change. None: nothing is kept.
        table: What the table is called in DDL.

    Raises:
        OptionError: An option is out of its range, or the format has `paths`.
        CheckpointError: The state is damaged, or of another schema.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> watch = fm.SchemaWatch(fm.Json(pa.schema([("id", pa.int32())])), policy="add")
        >>> data = b'{"id": 1}\\n{"id": 2.5, "tags": ["a"]}\\n'
        >>> changes = watch.observe(fm.read(data, watch.format))
        >>> [(change.column, str(change.after.type)) for change in changes]
        [('id', 'double'), ('tags', 'list<item: string>')]
        >>> fm.read(data, watch.format).to_pylist()[1]
        {'id': 2.5, 'tags': ['a'], '_rescued': None}
    """

    def __init__(
        self,
        format: Csv | Json,
        *,
        policy: Literal["rescue", "add", "fail"] = "rescue",
        state: str | os.PathLike[str] | None = None,
        table: str = "t",
    ) -> None:
        if state is not None and not isinstance(state, str | os.PathLike):
            raise OptionError(f"SchemaWatch: state: expected the path of a file, or None, found {state!r}")
        if policy not in POLICIES:
            raise OptionError(f"SchemaWatch: policy: expected one of {', '.join(POLICIES)}, found {policy!r}")
        if not isinstance(format, Csv | Json):
            raise OptionError(f"SchemaWatch: format: expected fm.Csv or fm.Json, found {kind_of(format)}")
        if isinstance(format, Json) and format.paths:
            raise OptionError(
                "SchemaWatch: a format with paths= has columns that stand elsewhere than under their names"
            )
        self.policy = policy
        self.table = table
        made = format if format.rescue is not None else with_rescue(format, "_rescued")
        assert isinstance(made, Csv | Json)
        self._given = made
        self._rescue = made.rescue or ""
        self._typed = isinstance(made, Json)
        self._known = {field.name: field for field in made.schema if field.name != self._rescue}
        self._evidence: dict[str, _Evidence] = {}
        self._handed_out: set[str] = set()  # columns that may have been read by
        self._version = 0
        self._steps: list[tuple[str, str]] = []
        self._state = None if state is None else Path(state)
        self._lock = threading.Lock()
        renewed_in_children(self)
        if self._state is not None and self._state.exists():
            self._load(self._state.read_bytes())

    @property
    def format(self) -> Csv | Json:
        """By which to read from now on: with the changes, under the policy "add"."""
        with self._lock:
            made = self._format()
            self._handed_out.update(made.schema.names)
            return made

    @property
    def version(self) -> int:
        """How often `changes` has changed."""
        return self._version

    @property
    def changes(self) -> tuple[SchemaChange, ...]:
        """All that the first schema lacks, in the order in which it was noticed."""
        with self._lock:
            return tuple(change for name in self._evidence if (change := self._change(name)) is not None)

    @property
    def ddl(self) -> tuple[str, ...]:
        """The statements that give the table all of them."""
        return tuple(text for change in self.changes if (text := change.ddl(self.table)) is not None)

    def observe(self, data: Any, *, place: str = "") -> tuple[SchemaChange, ...]:
        """Looks at what was rescued.

        Args:
            data: A batch or table that was read by a format of this watch, or its column of what was rescued.
            place: Where the data is from: `first` of a change says it.

        Returns:
            The changes that are new, or whose type has grown.

        Raises:
            DriftError: There are some, and the policy is "fail".
            SchemaError: The data has no such column.
        """
        where = f"{place}, row " if place else "row "
        return self.replay((text, where + str(row)) for row, text in self._texts(data) if text is not None)

    def replay(self, rows: Iterable[tuple[str, str]]) -> tuple[SchemaChange, ...]:
        """As `observe`, of texts that were rescued, each with its place: what `steps` of another watch has, say.

        Args:
            rows: Texts and places.

        Returns:
            As `observe`.

        Raises:
            DriftError: As `observe`.
        """
        grown: dict[str, None] = {}
        with self._lock:
            steps = len(self._steps)
            for text, place in rows:
                grown.update(dict.fromkeys(self._look_at(text, place)))
            changes = tuple(change for name in grown if (change := self._change(name)) is not None)
            self._version += bool(changes)
            if len(self._steps) > steps:
                self._save()
        if changes and self.policy == "fail":
            ddl = tuple(statement for change in changes if (statement := change.ddl(self.table)) is not None)
            shown = "; ".join(_told(change) for change in changes[:5])
            more = f" and {len(changes) - 5} more" if changes[5:] else ""
            raise DriftError(
                f"drift: the data has what the schema lacks: {shown}{more}; apply: {'; '.join(ddl) or 'text=any'}",
                changes,
                ddl,
            )
        return changes

    def take_steps(self) -> list[tuple[str, str]]:
        """The rescued texts that made a type grow, and their places, since this was asked last: another watch that replays
        them has noticed the same.

        Returns:
            Texts and places.
        """
        with self._lock:
            steps, self._steps = self._steps, []
            return steps

    # ----------------------------------------------------------------------------------------------------- internals

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "SchemaWatch: a watch stays in its process; send its format, and replay what take_steps() gives"
        )

    def _renew_locks(self) -> None:
        self._lock = threading.Lock()

    def _texts(self, data: Any) -> Iterable[tuple[int, str | None]]:
        if isinstance(data, pa.Array | pa.ChunkedArray):
            return enumerate(data.to_pylist())
        if not isinstance(data, pa.Table | pa.RecordBatch):
            raise OptionError(f"SchemaWatch: data: expected a table, batch or column, found {kind_of(data)}")
        if self._rescue not in data.schema.names:
            raise SchemaError(
                f"SchemaWatch: no column {self._rescue!r} in the data; read it with the format of the watch"
            )
        column = data.column(self._rescue)
        return enumerate(column.to_pylist()) if column.null_count < len(column) else ()

    def _look_at(self, text: str, place: str) -> list[str]:
        grown, is_step = [], False
        for key, value in READ(text):
            name = self._column_of(key)
            if name is None or (name in self._known and value is None):
                continue
            if not self._typed:
                value = read_text(value)
            known = self._evidence.get(name)
            before = known.field if known is not None else self._known.get(name, pa.field(name, pa.null()))
            fresh = name not in self._known and name not in self._handed_out
            after = widened(before, value, Rules(self._typed, fresh))
            if known is None:
                if name in self._known and after.equals(before, check_metadata=True):
                    continue  # one of two with this key, and it would fit
                known = self._evidence[name] = _Evidence(before, first=place)
            known.count += 1
            if not after.equals(before, check_metadata=True):
                known.field, is_step = after, True
                if not _are_told_alike(before, after):
                    grown.append(name)
                if len(known.examples) < EXAMPLES_MOST:
                    known.examples += (_written(value)[:EXAMPLE_MOST],)
        if is_step:
            self._steps.append((text, place))
        return grown

    def _column_of(self, key: str) -> str | None:
        """None for what is no field: a record that could not be read at all stands under the column's own name."""
        if key == self._rescue:
            return None
        if (
            self._typed
            or key in self._known
            or not key.isdigit()
            or (isinstance(self._given, Csv) and self._given.header)
        ):
            return key
        return f"field_{key}"

    def _change(self, name: str) -> SchemaChange | None:
        seen, before = self._evidence[name], self._known.get(name)
        after = usable(seen.field)
        if after is None or (before is not None and after.equals(before, check_metadata=True)):
            return None
        return SchemaChange(name, before, after, seen.count, seen.first, seen.examples)

    def _format(self) -> Csv | Json:
        if self.policy != "add" or not self._evidence:
            return self._given
        fields = []
        for name, field in self._known.items():
            change = self._change(name) if name in self._evidence else None
            fields.append(field if change is None else change.after)
        new = {
            name: change.after for name in self._evidence if name not in self._known and (change := self._change(name))
        }
        fields += self._numbered(new) if self._is_by_number() else list(new.values())
        return replace(self._given, schema=pa.schema(fields, metadata=self._given.schema.metadata))

    def _is_by_number(self) -> bool:
        return isinstance(self._given, Csv) and not self._given.header

    def _numbered(self, new: dict[str, pa.Field]) -> list[pa.Field]:
        """Fields without a header are columns by their place: one of which nothing is known yet is text."""
        last = max((int(name.removeprefix("field_")) for name in new), default=len(self._known) - 1)
        names = [f"field_{number}" for number in range(len(self._known), last + 1)]
        return [new.get(name, pa.field(name, pa.string())) for name in names]

    def _save(self) -> None:
        if self._state is None:
            return
        kept = {
            "state": STATE_VERSION,
            "version": self._version,
            "given": _packed(self._given.schema),
            "fields": _packed(pa.schema([seen.field for seen in self._evidence.values()])),
            "evidence": [[seen.count, seen.first, seen.examples] for seen in self._evidence.values()],
        }
        beside = self._state.with_name(f"{self._state.name}.{os.getpid()}.new")
        with beside.open("w") as file:
            json.dump(kept, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._state)

    def _load(self, text: bytes) -> None:
        try:
            kept = json.loads(text)
            given, fields = _unpacked(kept["given"]), _unpacked(kept["fields"])
            evidence = [_Evidence(field, count, first, tuple(examples))
                        for field, (count, first, examples) in zip(fields, kept["evidence"], strict=True)]  # fmt: skip
            version, state = int(kept["version"]), kept["state"]
        except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
            raise CheckpointError(f"SchemaWatch: the state in {str(self._state)!r} cannot be read: {error}") from error
        if state != STATE_VERSION or not given.equals(self._given.schema, check_metadata=True):
            raise CheckpointError(
                f"SchemaWatch: the state in {str(self._state)!r} is of another schema or version; give the format it was begun "
                "with, or another file"
            )
        self._evidence = {seen.field.name: seen for seen in evidence}
        self._version = version
        self._handed_out.update(self._format().schema.names)


def _are_told_alike(before: pa.Field, after: pa.Field) -> bool:
    """Whether what has been learned of a field is nothing that a schema says."""
    now, then = usable(after), usable(before)
    return now is None or (then is not None and now.equals(then, check_metadata=True))


def _told(change: SchemaChange) -> str:
    kind = "no column" if change.before is None else str(change.before.type)
    return f"{change.column!r} ({kind}, needs {change.after.type}; {change.first}: {', '.join(change.examples)})"


def _written(value: Any) -> str:
    if isinstance(value, Members):
        return "{" + ",".join(f"{json.dumps(name)}:{_written(member)}" for name, member in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def _packed(schema: pa.Schema) -> str:
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def _unpacked(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))

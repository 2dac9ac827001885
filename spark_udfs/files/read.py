"""Files to a DataFrame, split-parallel inside files.

In: paths and a format. Out: a lazy DataFrame of the rows fm.read gives for each file, in order of files, with partition
folders as columns. The driver lists files, finds where splits may begin and sends ranges; each task reads its own. Parsing
is formatter.splits', types are spark_types.py's.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import formatter as fm
from formatter.codecs import codec_of
from formatter.filters import Clause, columns_of, normalized
from formatter.formats import Csv
from formatter.formats.registered import is_registered
from formatter.plans import with_rescue
from formatter.splits import Part, SplitReader, begins_anywhere, can_be_split
from formatter.variants import Columns, asked_as
from spark_udfs.files.block_hosts import hosts_of
from spark_udfs.files.file_listing import LOCAL, FoundFile, Paths, Storage, list_files, listed
from spark_udfs.files.inferred import call_of, inferred, tell_doubts
from spark_udfs.files.partitions import FolderFilter, Partitioning, partitioning_of
from spark_udfs.files.read_task import FilePart, ReadTask
from spark_udfs.files.split_starts import GRID_BYTES, split_starts
from spark_udfs.files.task_rows import Groups, task_rows
from spark_udfs.jvm.direct_rows import attach_if_configured
from spark_udfs.jvm.session_jvm import has_jvm
from spark_udfs.options.reading import Reading, reading_of, require_utc, zone_of
from spark_udfs.tasks.metrics import Reports, reports_of
from spark_udfs.tasks.siblings import with_siblings
from spark_udfs.types.arrow_schema import arrow_schema
from spark_udfs.types.named_columns import require_list

# A task costs as much as parsing 100 MB; more than this would be lost with one that fails.
LARGEST_SPLIT_BYTES = 256 << 20
FILE_COST_BYTES = 256 << 10  # to open a file takes as long as to read this much of it
HEADER_BYTES = 64 << 10  # a header is looked for in these first, then in more
CORES_UNKNOWN = 2

Clauses = list[list[Clause]]


def read(
    spark: SparkSession,
    path: Paths,
    format: Any = None,
    *,
    columns: Columns = None,
    filters: Any = None,
    on_error: str | None = None,
    schema: pa.Schema | StructType | str | None = None,
    options: Mapping[str, Any] | None = None,
    partitions: str | Mapping[str, Any] | pa.Schema | StructType | None = "infer",
    base_path: str | os.PathLike[str] | None = None,
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    split_bytes: int | None = None,
    file_column: str | None = None,
    max_errors: int | float | None = None,
    rescue: str | None = None,
) -> DataFrame:
    """Rows of files, parsed in as many tasks as are worth it, split-parallel inside files.

    Args:
        spark: The session.
        path: A file, directory or glob, or a list of these.
        format: Any of `fm`, or a `su.Reading`; "csv" or "json" with `schema` and Spark's reader `options`; a name that
            `fm.register_format` was given, with `schema` and the options of `fm.Registered`. Without a schema one is inferred as by
            `su.infer` and printed; None is whatever that finds.
        columns: What to decode; columns of folders may be named too.
        filters: Which rows to keep, as for `fm.read`; those on columns of folders leave files out.
        on_error: "raise", "null", "skip", or "collect": then `su.rejects(df)` has the rejected records.
        schema: With a format by name: pyarrow's, Spark's, or DDL.
        options: With format "csv" or "json": those of Spark's reader; `su.migrate` says what becomes of each.
        partitions: "infer" appends a column for each k=v folder, with the type its values have; a schema gives types; None
            appends none.
        base_path: Where k=v folders begin. None: at each path.
        filesystem: One of pyarrow.fs or fsspec, for all paths.
        storage_options: Arguments for fsspec's.
        split_bytes: About how much of a file one task reads.
        file_column: The name of one more column, of what Spark's own readers have in `_metadata`: path, name, size, part and
            time of the file a row is from.
        max_errors: How many of a task's records may be bad, or which share of them (a float): more fail it.
        rescue: As for `su.parse`.

    Returns:
        A DataFrame of the columns wanted.

    Raises:
        OptionError: An option is out of its range, or has no meaning here.
        SchemaError: A column that is not there, or a type that Spark or the format cannot have.
        FileNotFoundError: A path behind which nothing stands.

    Example:
        >>> import tempfile, spark_udfs as su
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = open(f"{folder}/a.csv", "w").write('id,city\\n1,"Oslo,\\ncapital"\\n')
        ...     rows = su.read(spark, folder, "csv", schema="id INT, city STRING", options={"header": True, "multiLine": True})
        ...     rows.collect()
        [Row(id=1, city='Oslo,\\ncapital')]
    """
    attach_if_configured(spark)
    path = listed(path)
    storage = Storage.of(filesystem, storage_options)
    files = None
    named = format is None or (isinstance(format, str) and not is_registered(format))
    if named and schema is None and not options:
        files = list_files(path, storage=storage, base_path=base_path, may_be_empty=True)
        format = _told(files, *inferred(files, storage, format))
    reading = reading_of(format, schema=schema, options=options, on_error=on_error)
    format, columns = asked_as(with_rescue(reading.format, rescue), columns)
    reading = replace(reading, format=format)
    require_utc(reading, zone_of(spark))
    reports = reports_of(spark, f"read {reading.format.kind} {_shown(path)}")
    task = read_task(
        spark, path, reading, storage, columns=columns, filters=filters, partitions=partitions, base_path=base_path,
        split_bytes=split_bytes, reports=reports, files=files, file_column=file_column,
    )  # fmt: skip
    task.bear(max_errors, reading.on_error)
    return with_siblings(task_rows(spark, task.groups, task.size_bytes), task)


def _told(files: Sequence[FoundFile], format: Any, doubts: Sequence[str]) -> Any:
    first, *others = (file.path for file in files if file.size)
    more = f" and {len(others)} more look" if others else " looks"
    print(f"su.read: no schema is given; {first}{more} like\n  {call_of(format)}")
    tell_doubts("su.read", doubts, steps=2)
    return format


def read_task(
    spark: SparkSession | None,
    path: Paths,
    reading: Reading,
    storage: Storage,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    partitions: Any = "infer",
    base_path: str | os.PathLike[str] | None = None,
    split_bytes: int | None = None,
    reports: Reports | None = None,
    files: Sequence[FoundFile] | None = None,
    file_column: str | None = None,
) -> ReadTask:
    """The files behind `path`, or those given, as groups of parts, one a task. Without a session this process looks for where
    parts begin by itself."""
    if files is None:
        files = list_files(
            path, storage=storage, base_path=reading.base_path if base_path is None else base_path, may_be_empty=True
        )
    if reading.name_glob is not None:
        files = [file for file in files if fnmatch.fnmatchcase(posixpath.basename(file.path), reading.name_glob)]
    has_folders = any(file.partition for file in files)
    if not reading.searches_folders and not (has_folders and reading.use_folders):
        files = [file for file in files if not file.plain_folders]
    if not reading.use_folders:
        partitions = None
    if reading.from_options and has_folders and len(roots := {file.root for file in files}) > 1:
        raise fm.SchemaError(
            f"spark: k=v folders begin at {' and at '.join(sorted(roots)[:2])}: say with the option basePath (or base_path=) where "
            "they do, or read each path by itself"
        )
    if reading.from_options and partitions == "infer" and has_folders:  # as Spark does with a schema that names folders
        reading, types = reading.without([key for key, _ in files[0].partition])
        partitioning = partitioning_of(files, types)
    else:
        partitioning = _partitioning(files, partitions)
    names, clauses = _asked(reading, columns, filters, partitioning.schema.names)
    if file_column is not None:
        if file_column in (*reading.names, *partitioning.schema.names):
            raise fm.SchemaError(f"spark: there is a column {file_column!r} already; give another name in file_column=")
        names.append(file_column)
    if not names:
        raise fm.SchemaError("spark: no columns are asked for; name at least one in `columns`")
    of_folders = FolderFilter(clauses, partitioning.schema)
    kept = [
        (file, values, left)
        for file, values in zip(files, partitioning.values, strict=True)
        if (left := of_folders.left(values)) is not None
    ]
    size = _split_bytes(spark, sum(file.size + FILE_COST_BYTES for file, _, _ in kept), split_bytes)
    distinct: list[Clauses] = []
    for _, _, left in kept:
        if left not in distinct:
            distinct.append(left)
    parts = list(_parts(spark, kept, distinct, reading.format, storage, size))
    grouped = _grouped(parts, size)
    hosts = hosts_of(spark, grouped) if spark is not None and has_jvm(spark) and storage == LOCAL else ()
    groups = Groups(grouped, sum(part.size for part in parts), hosts)
    return ReadTask(reading, names, partitioning.schema, distinct, storage, groups, reports, file_column)


def _shown(paths: Sequence[str]) -> str:
    return f"{paths[0]}{', ...' if paths[1:] else ''}"


def _asked(
    reading: Reading, columns: Sequence[str] | None, filters: Any, folders: list[str]
) -> tuple[list[str], Clauses]:
    """Names of columns in order, and filters as an OR of ANDs."""
    if both := set(reading.names) & set(folders):
        raise fm.SchemaError(
            f"spark: {min(both)!r} is a column of the format and a partition folder; rename it in the format's schema, or "
            "read without partitions (partitions=None)"
        )
    require_list("columns", columns)
    everything = [*reading.names, *folders]
    names = everything if columns is None else list(columns)
    clauses = normalized(filters)
    for name in (*names, *columns_of(clauses)):
        if name not in everything:
            raise fm.SchemaError(f"spark: no column {name!r} among ({', '.join(everything)})")
    return names, clauses


def _partitioning(files: Sequence[FoundFile], wanted: Any) -> Partitioning:
    if wanted is None:
        return Partitioning(pa.schema([]), ((),) * len(files))
    if wanted == "infer":
        return partitioning_of(files)
    if isinstance(wanted, Mapping):
        wanted = ", ".join(f"`{name}` {type_}" for name, type_ in wanted.items())
    return partitioning_of(files, arrow_schema(wanted))


def _split_bytes(spark: SparkSession | None, total: int, wanted: int | None) -> int:
    """A whole number of grid blocks."""
    if wanted is not None:
        if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
            raise fm.OptionError(f"spark: split_bytes is a whole number from 1, found {wanted!r}")
        size = wanted
    else:
        cores = core_count(spark)
        tasks = max(1, -(-total // LARGEST_SPLIT_BYTES))
        size = -(-total // (cores * -(-tasks // cores)))  # as many tasks as cores, or twice as many, or three times...
    return max(1, -(-size // GRID_BYTES)) * GRID_BYTES


def core_count(spark: SparkSession | None) -> int:
    """Tasks that run at once. A Connect client cannot ask: then splits are as large as they may be."""
    context = getattr(spark, "_jsc", None)
    if context is not None:
        return max(1, int(context.sc().defaultParallelism()))
    return CORES_UNKNOWN


def _parts(
    spark: SparkSession | None,
    files: Sequence[tuple[FoundFile, tuple[Any, ...], Clauses]],
    filters: list[Clauses],
    format: Any,
    storage: Storage,
    split_bytes: int,
) -> Iterator[FilePart]:
    split = [
        file for file, _, _ in files if file.size > split_bytes and codec_of(file.path) is None and can_be_split(format)
    ]
    headers = {file.path: _header_of(file, format, storage) for file in split}
    starts = {} if begins_anywhere(format) or not split else split_starts(spark, split, format, storage)
    for file, values, left in files:
        number = filters.index(left)
        if file.path not in headers:
            yield FilePart(
                file.path, Part(), file.size, codec_of(file.path), b"", values, number, file.size, file.modified_ns
            )
            continue
        header, proven = headers[file.path], starts.get(file.path)
        lines = [line for line in range(split_bytes, file.size, split_bytes) if line > len(header)]
        cuts = lines if proven is None else dict.fromkeys(proven[line // GRID_BYTES] for line in lines)
        for begin, end in pairwise([0, *cuts, file.size]):
            if begin < end:
                part = Part(begin, end, proven is not None, end == file.size)
                yield FilePart(file.path, part, end - begin, None, header, values, number, file.size, file.modified_ns)


def _header_of(file: FoundFile, format: Any, storage: Storage) -> bytes:
    if not (isinstance(format, Csv) and format.has_preamble):
        return b""
    filesystem, inner = storage.resolve(file.path)
    reader = SplitReader(format, columns=[])
    with filesystem.open_input_file(inner) as stream:
        size = HEADER_BYTES
        while True:
            start = stream.read_at(min(size, file.size), 0)
            if (found := reader.header_bytes(start, len(start) == file.size, file.path)) is not None:
                return bytes(start[:found])
            size *= 8


def _grouped(parts: Iterable[FilePart], split_bytes: int) -> tuple[tuple[FilePart, ...], ...]:
    """One group a task: small files together, in order."""
    groups: list[list[FilePart]] = []
    room = 0
    for part in parts:
        cost = part.size + FILE_COST_BYTES
        if not groups or cost > room:
            groups.append([])
            room = split_bytes + FILE_COST_BYTES
        groups[-1].append(part)
        room -= cost
    return tuple(map(tuple, groups))

"""VCF and GFF3, the tables of genomics: fields between tabs, one of which holds keys. In: a schema. Out: a declared format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from formatter.declared.spelled_bytes import spelled
from formatter.formats import Delimited, Level
from formatter.formats.delimited import Path

VCF_PLACES = {name: (i,) for i, name in enumerate(("CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"))}
GFF_PLACES = {
    name: (i,)
    for i, name in enumerate(("seqid", "source", "type", "start", "end", "score", "strand", "phase", "attributes"))
}


def vcf(schema: pa.Schema, paths: Mapping[str, Path] | None = None) -> Delimited:
    """VCF: the fixed fields by their names (`CHROM`, `POS`, ...), other columns as keys of INFO.

    Args:
        schema: The columns. A key of INFO without a value, a flag, is null as a missing one is.
        paths: Other places: `("sample", (9,))`, the first sample's field.

    Returns:
        `fm.Delimited`. Header lines are comments to it; "." is null.

    Raises:
        SchemaError: A path of no column.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("CHROM", pa.string()), ("POS", pa.int64()), ("DP", pa.int32())])
        >>> lines = b"##fileformat=VCFv4.3\\n#CHROM\\tPOS\\n20\\t14370\\t.\\tG\\tA\\t29\\tPASS\\tNS=3;DP=14\\n"
        >>> fm.read(lines, fm.declared.vcf(schema)).to_pylist()
        [{'CHROM': '20', 'POS': 14370, 'DP': 14}]
    """
    return _table(schema, VCF_PLACES, ("INFO",), paths, "vcf")


def gff3(schema: pa.Schema, paths: Mapping[str, Path] | None = None) -> Delimited:
    """GFF3: the fixed fields by their names (`seqid`, `start`, ...), other columns as keys of the attributes.

    Args:
        schema: The columns.
        paths: Other places.

    Returns:
        `fm.Delimited`. `%09`, `%20` and their like are read as what they mean, bytes beyond ASCII as they are written; "." is null.
        A line of a FASTA section behind the features is a record like any other, of one field: have a column that is not
        nullable, such as `start`, and `on_error="skip"`.

    Raises:
        SchemaError: A path of no column.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("start", pa.int64()), ("Name", pa.string())])
        >>> fm.read(b"ctg\\t.\\tgene\\t1000\\t9000\\t.\\t+\\t.\\tID=g1;Name=a%3Bb\\n", fm.declared.gff3(schema)).to_pylist()
        [{'start': 1000, 'Name': 'a;b'}]
    """
    return _table(schema, GFF_PLACES, ("attributes",), paths, "gff3", escapes=spelled("%"))


def _table(
    schema: pa.Schema,
    places: dict[str, tuple[int]],
    keyed: tuple[str],
    paths: Mapping[str, Path] | None,
    name: str,
    **options: Any,
) -> Delimited:
    found: dict[str, Path] = {column: places.get(column, (*places[keyed[0]], column)) for column in schema.names}
    return Delimited(
        schema,
        levels=[Level("\t"), Level(";", key="=")],
        paths=found | dict(paths or {}),
        comment="#",
        nulls=("", "."),
        name=name,
        **options,
    )

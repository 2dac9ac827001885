"""A format from a sample. In: the start of an input. Out: a format that reads it, and a warning that names its evidence
where the sample allows another reading.
"""

from __future__ import annotations

import warnings
from typing import Any

from formatter.errors import OptionError
from formatter.formats import Csv, Json
from formatter.inference.csv import infer_csv
from formatter.inference.given import checked
from formatter.inference.json import infer_json
from formatter.inference.json_records import JsonSample, holds_record
from formatter.inference.sample import decoded, looks_like_json, take_bytes
from formatter.sources import Source


class InferenceWarning(UserWarning):
    """The sample allows more than one reading; the message names the evidence.

    Example:
        >>> import warnings, formatter as fm
        >>> with warnings.catch_warnings(record=True) as seen:
        ...     warnings.simplefilter("always")
        ...     _ = fm.infer(b"id,id\\n1,2\\n")
        >>> seen[0].category is fm.InferenceWarning
        True
    """


def infer(
    source: Source, kind: str = "csv", *, rows: int = 10_000, codec: str | None = None, **given: Any
) -> Csv | Json:
    """A format for an input, from its beginning: dialect, columns and their types.

    What the sample leaves in doubt is told by an `fm.InferenceWarning`, which names the evidence.

    Args:
        source: As for `fm.read`.
        kind: "csv" or "json".
        rows: How many records are looked at.
        codec: As for `fm.read`.
        **given: What is known of a CSV dialect, as options of `fm.Csv`: delimiter, record_delimiter, quote, quotes, escape,
            comment, newlines_in_quotes. It stands, and the rest is found by it.

    Returns:
        An `fm.Csv` or `fm.Json`; print it, keep it, or correct it: `dataclasses.replace(format, header=True)`.

    Raises:
        FormatError: No format reads the sample.
        OptionError: An argument is out of its range.
        OSError: The source cannot be read.

    Example:
        >>> import formatter as fm
        >>> format = fm.infer(b"id;price\\n1;7,25\\n2;10,5\\n")
        >>> format.delimiter, format.header, format.decimal, [str(field.type) for field in format.schema]
        (';', True, ',', ['int64', 'double'])
        >>> [str(field.type) for field in fm.infer(b"1;7,25\\n2;10,5\\n", delimiter=",").schema]
        ['string', 'int64']
    """
    if kind not in ("csv", "json"):
        raise OptionError(f"infer: kind: expected 'csv' or 'json', found {kind!r}")
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise OptionError(f"infer: rows: expected a whole number from 1, found {rows!r}")
    if given and kind != "csv":
        raise OptionError(f"infer: {next(iter(given))}: is an option of kind='csv'")
    known = checked(given)
    format: Csv | Json
    if kind == "json":
        data, whole = take_bytes(source, codec, holds_record)
        format, doubts = infer_json([JsonSample(data, whole)], rows)
    else:
        data, whole = take_bytes(source, codec)
        inferred = infer_csv(decoded(data, whole), rows, known)
        format, doubts = inferred.format, inferred.doubts
        if looks_like_json(data):
            doubts.insert(0, "the first record looks like a JSON object; kind='json' reads those")
    if doubts:
        warnings.warn(f"infer: {'; '.join(doubts)}", InferenceWarning, stacklevel=2)
    return format

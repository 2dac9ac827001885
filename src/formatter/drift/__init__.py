"""Schemas that grow with their data: fields that appear, and types that turn out too narrow.

In: what was rescued of records. Out: what the schema lacks, with its evidence, and formats that have it. Refuses to know: how
records are read, and who reads them.
"""

from formatter.drift.schema_watch import DriftError, SchemaChange, SchemaWatch

__all__ = ["DriftError", "SchemaChange", "SchemaWatch"]

"""What `__init__.py` gives on demand, for type checkers."""

from formatter import declared as declared
from formatter import mixed_stream as mixed_stream
from formatter._core import Checkpoint, Rows, SequenceShredder, Watermark
from formatter.batch import Batch
from formatter.batch_policy import BatchPolicy
from formatter.checkpoints import CheckpointError
from formatter.drift import DriftError, SchemaChange, SchemaWatch
from formatter.errors import (
    BackpressureError,
    ClosedError,
    FlowError,
    FormatError,
    FormatterError,
    OptionError,
    SchemaError,
    SequenceError,
    TooManyErrors,
)
from formatter.flow import (
    Barrier,
    BarrierAligner,
    Bridge,
    BridgeStats,
    Cancelled,
    DropNewest,
    FanOut,
    Instant,
    Pause,
    SpillToDisk,
    pipeline,
)
from formatter.formats import Csv, Delimited, Framed, Json, Level, Native, Registered, register_format
from formatter.inference import InferenceWarning, infer
from formatter.inference.explanation import ExplainedColumn, Explanation, explain
from formatter.kernel import active_kernel, kernels
from formatter.native_interface import get_include
from formatter.parsers import per_value, register_parser
from formatter.readers import open, read
from formatter.rewriting import Rewriter, rewrite
from formatter.shared import ALL, SharedStream, SharedStreamStats, Subscription, SubscriptionStats
from formatter.stream import Stream, StreamStats
from formatter.tolerance import RejectsWarning
from formatter.values import ParsedRecords, parse_records, parse_records_with_errors, parse_values
from formatter.variants import variant

__version__: str

__all__ = [
    "ALL",
    "BackpressureError",
    "Barrier",
    "BarrierAligner",
    "Batch",
    "BatchPolicy",
    "Bridge",
    "BridgeStats",
    "Cancelled",
    "Checkpoint",
    "CheckpointError",
    "ClosedError",
    "Csv",
    "Delimited",
    "DriftError",
    "DropNewest",
    "ExplainedColumn",
    "Explanation",
    "FanOut",
    "FlowError",
    "FormatError",
    "FormatterError",
    "Framed",
    "InferenceWarning",
    "Instant",
    "Json",
    "Level",
    "Native",
    "OptionError",
    "ParsedRecords",
    "Pause",
    "Registered",
    "RejectsWarning",
    "Rewriter",
    "Rows",
    "SchemaChange",
    "SchemaError",
    "SchemaWatch",
    "SequenceError",
    "SequenceShredder",
    "SharedStream",
    "SharedStreamStats",
    "SpillToDisk",
    "Stream",
    "StreamStats",
    "Subscription",
    "SubscriptionStats",
    "TooManyErrors",
    "Watermark",
    "active_kernel",
    "explain",
    "get_include",
    "infer",
    "kernels",
    "open",
    "parse_records",
    "parse_records_with_errors",
    "parse_values",
    "per_value",
    "pipeline",
    "read",
    "register_format",
    "register_parser",
    "rewrite",
    "variant",
]

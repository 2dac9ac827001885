"""Raw CSV, NDJSON and binary buffers to Arrow record batches: any order, exactly once, only the columns asked for."""

from formatter._core import SequenceShredder
from formatter.batch import Batch
from formatter.checkpoints import CheckpointError
from formatter.errors import (
    BackpressureError,
    FlowError,
    FormatError,
    FormatterError,
    OptionError,
    SchemaError,
    SequenceError,
)
from formatter.flow.policy import BatchPolicy
from formatter.formats import Csv
from formatter.json_format import Json
from formatter.kernel import active_kernel, choose_kernel, kernels
from formatter.readers import RejectsWarning, open, read
from formatter.stream import Stream, StreamStats

__version__ = "0.1.0"

__all__ = [
    "BackpressureError",
    "Batch",
    "BatchPolicy",
    "CheckpointError",
    "Csv",
    "FlowError",
    "FormatError",
    "FormatterError",
    "Json",
    "OptionError",
    "RejectsWarning",
    "SchemaError",
    "SequenceError",
    "SequenceShredder",
    "Stream",
    "StreamStats",
    "active_kernel",
    "kernels",
    "open",
    "read",
]

choose_kernel()
del choose_kernel

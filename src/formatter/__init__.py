"""Raw CSV, NDJSON and binary buffers to Arrow record batches: any order, exactly once, only the columns asked for."""

from formatter.kernel import choose_kernel
from formatter.surface import on_demand

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = on_demand(
    __name__,
    {
        "_core": ("Checkpoint", "Rows", "SequenceShredder", "Watermark"),
        "batch": ("Batch",),
        "batch_policy": ("BatchPolicy",),
        "checkpoints": ("CheckpointError",),
        "drift": ("DriftError", "SchemaChange", "SchemaWatch"),
        "errors": (
            "BackpressureError",
            "ClosedError",
            "FlowError",
            "FormatError",
            "FormatterError",
            "OptionError",
            "SchemaError",
            "SequenceError",
            "TooManyErrors",
        ),
        "flow": (
            "Barrier",
            "BarrierAligner",
            "Bridge",
            "BridgeStats",
            "Cancelled",
            "DropNewest",
            "FanOut",
            "Instant",
            "Pause",
            "SpillToDisk",
            "pipeline",
        ),
        "formats": ("Csv", "Delimited", "Framed", "Json", "Level", "Native", "Registered", "register_format"),
        "inference": ("InferenceWarning", "infer"),
        "inference.explanation": ("ExplainedColumn", "Explanation", "explain"),
        "kernel": ("active_kernel", "kernels"),
        "native_interface": ("get_include",),
        "parsers": ("per_value", "register_parser"),
        "readers": ("open", "read"),
        "rewriting": ("Rewriter", "rewrite"),
        "shared": ("ALL", "SharedStream", "SharedStreamStats", "Subscription", "SubscriptionStats"),
        "mixed_stream": ("Stream",),  # which knows streams of several formats only once they have been imported
        "stream": ("StreamStats",),
        "tolerance": ("RejectsWarning",),
        "values": ("ParsedRecords", "parse_records", "parse_records_with_errors", "parse_values"),
        "variants": ("variant",),
    },
)

choose_kernel()
del choose_kernel, on_demand

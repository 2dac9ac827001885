"""Between fast buffers and stateful consumers: bridges, batch policies, barriers, plans. Public names only."""

from formatter._core import Checkpoint, Consumer, Producer, Rows, Watermark
from formatter.batch_policy import BatchPolicy
from formatter.flow.backpressure import DropNewest, Pause, SpillToDisk
from formatter.flow.barriers import Barrier, BarrierAligner, Cancelled, Instant
from formatter.flow.bridge import Bridge, BridgeStats, FanOut
from formatter.flow.plan import Pipeline, Plan, Stage, pipeline
from formatter.flow.running import Running, SourceState

__all__ = [
    "Barrier",
    "BarrierAligner",
    "BatchPolicy",
    "Bridge",
    "BridgeStats",
    "Cancelled",
    "Checkpoint",
    "Consumer",
    "DropNewest",
    "FanOut",
    "Instant",
    "Pause",
    "Pipeline",
    "Plan",
    "Producer",
    "Rows",
    "Running",
    "SourceState",
    "SpillToDisk",
    "Stage",
    "Watermark",
    "pipeline",
]

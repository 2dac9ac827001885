"""Between fast buffers and stateful consumers: bridges, batch policies, barriers, plans. Public names only."""

from formatter._core import Checkpoint, Consumer, Producer, Rows, Watermark
from formatter.flow.bridge import Bridge, BridgeStats, FanOut
from formatter.flow.policy import BatchPolicy, DropNewest, Pause, SpillToDisk

__all__ = [
    "BatchPolicy", "Bridge", "BridgeStats", "Checkpoint", "Consumer", "DropNewest", "FanOut", "Pause", "Producer",
    "Rows", "SpillToDisk", "Watermark",
]

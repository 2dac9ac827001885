"""Which per-CPU kernel this process runs: the best one, or the one FORMATTER_KERNEL names."""

from __future__ import annotations

import os

from formatter import _core
from formatter.errors import OptionError


def kernels() -> tuple[str, ...]:
    """Names of the kernels this build has and this CPU runs, best first."""
    return _core.kernels()


def active_kernel() -> str:
    """The kernel new formats, streams and reads use."""
    return _core.active_kernel()


def choose_kernel() -> None:
    """Called once on import."""
    wanted = os.environ.get("FORMATTER_KERNEL")
    available = kernels()
    if wanted and wanted not in available:
        raise OptionError(
            f"FORMATTER_KERNEL: expected one of {', '.join(available)} on this machine, found {wanted!r}; unset it or correct it"
        )
    _core.use_kernel(wanted or available[0])

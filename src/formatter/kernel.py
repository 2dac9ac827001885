"""Which per-CPU kernel this process runs: the best one, or the one FORMATTER_KERNEL names."""

from __future__ import annotations

import os

from formatter import _core
from formatter.errors import OptionError


def kernels() -> tuple[str, ...]:
    """Names of the kernels this build has and this CPU runs.

    Returns:
        A tuple of names, the best first and "scalar" last; set FORMATTER_KERNEL to one of them to force it.

    Example:
        >>> import formatter as fm
        >>> fm.kernels()[-1]
        'scalar'
    """
    return _core.kernels()


def active_kernel() -> str:
    """The kernel that new streams and reads use.

    Returns:
        One of `fm.kernels()`: the best, or the one FORMATTER_KERNEL names.

    Example:
        >>> import formatter as fm
        >>> fm.active_kernel() in fm.kernels()
        True
    """
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

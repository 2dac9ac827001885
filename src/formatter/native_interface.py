"""Where code in C or Cython finds the header that it implements. In: nothing. Out: a folder."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """The folder of `formatter.h`, in which formats and parsers in C are told of (docs/registered.md).

    Returns:
        A path for a compiler's `-I`.

    Example:
        >>> import os, formatter as fm
        >>> os.listdir(fm.get_include())
        ['formatter.h']
    """
    return str(Path(__file__).parent / "include")

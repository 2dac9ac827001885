"""Indexers and parsers in C, compiled once, as fm.register_format and fm.register_parser take them.

In: names of what netstrings.c has. Out: objects with capsules. Refuses to know: what is read with them.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

from native_programs import Object, native_program

import formatter as fm

SOURCE = Path(__file__).parent / "netstrings.c"


def library() -> str:
    flags = ["-fPIC", "-O2", "-Wall", "-Werror", f"-I{fm.get_include()}"]
    return str(native_program("netstrings", [Object("netstrings", SOURCE)], flags, ["-shared"], compiler="cc"))


def capsule(path: str, symbol: str, kind: bytes) -> object:
    """Of a struct that a shared library has; the library stays loaded."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    _names.append(kind)
    address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(path), symbol))
    return new(address, kind, None)


_names: list[bytes] = []  # a capsule keeps the address of its name


@dataclass(frozen=True)
class NativeIndexer:
    path: str
    symbol: str

    def __formatter_indexer__(self) -> object:
        return capsule(self.path, self.symbol, b"formatter.indexer")


@dataclass(frozen=True)
class NativeParser:
    path: str
    symbol: str

    def __formatter_parser__(self) -> object:
        return capsule(self.path, self.symbol, b"formatter.parser")

"""What a record looks like: frozen options, checked when made. No I/O, no parsing, no native code."""

from formatter.formats.binary import Framed, Native
from formatter.formats.csv import Csv
from formatter.formats.delimited import Delimited, Level
from formatter.formats.json import Json
from formatter.formats.registered import Registered, register_format

__all__ = ["Csv", "Delimited", "Framed", "Json", "Level", "Native", "Registered", "register_format"]

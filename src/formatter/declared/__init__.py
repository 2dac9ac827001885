"""Formats that are declared: each a few lines over `fm.Delimited`, to use, and to read before declaring one's own."""

from formatter.declared.access_logs import combined_log, common_log
from formatter.declared.fixed_width import fixed_width
from formatter.declared.genomes import gff3, vcf
from formatter.declared.hl7 import hl7
from formatter.declared.keyed import blocks, logfmt, ltsv, query_strings
from formatter.declared.syslog import syslog

__all__ = [
    "blocks",
    "combined_log",
    "common_log",
    "fixed_width",
    "gff3",
    "hl7",
    "logfmt",
    "ltsv",
    "query_strings",
    "syslog",
    "vcf",
]

"""Chunks of bytes as rows, and the records of whole origins."""

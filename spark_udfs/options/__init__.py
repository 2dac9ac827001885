"""Spark's reader options as formats of ours."""

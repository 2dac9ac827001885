"""A small slice of `make spark-queries`: random queries give the rows of Spark's own readers, whatever is on and off."""

from __future__ import annotations

from query_soup import compare

QUERIES, SEED = 60, 11


def test_random_queries_give_the_rows_of_sparks_own_readers(pushing, tmp_path):
    assert compare(pushing, tmp_path, QUERIES, SEED) == []

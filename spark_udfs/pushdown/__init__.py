"""Columns and predicates of the query above, in the task that parses."""

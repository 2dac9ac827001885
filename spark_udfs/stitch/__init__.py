"""Chunks parsed where they are, whatever the partitioning."""

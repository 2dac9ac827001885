"""Files to rows, split-parallel inside files."""

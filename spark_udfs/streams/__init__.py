"""Records that span micro-batches."""

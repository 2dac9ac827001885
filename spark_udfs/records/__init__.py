"""One record a value."""

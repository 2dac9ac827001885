"""Instructions by callgrind: what a parse costs where no clock can be trusted. `python -m bench.instructions`."""

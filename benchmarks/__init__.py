"""How fast the kit is, measured side by side in one run: `python -m benchmarks`."""

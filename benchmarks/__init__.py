"""Benchmarks: `python -m benchmarks.<name>`; each prints a table and writes JSON with --json."""

"""Benchmarks: `python -m benchmarks.<name>`; each prints a table and writes JSON with --json."""

import interrupts  # noqa: F401 - Ctrl-C from here on is one line

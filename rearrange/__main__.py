"""`python -m rearrange`: says how the command is called, which lies above this package."""

import sys

print(
    "rearrange: say `rearrange --help`, or python -m console --help: the commands", file=sys.stderr
)
raise SystemExit(2)

"""Prints docs/knowledge.md."""

import sys

from skills.knowledge.table import page

if __name__ == "__main__":
    sys.stdout.write(page())

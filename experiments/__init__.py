"""Tables and figures of the papers, again: `rearrange reproduce ver_table1`; see docs/papers.md."""

import interrupts  # noqa: F401 - Ctrl-C from here on is one line

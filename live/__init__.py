"""A page in the browser that shows a world while somebody acts in it."""

import interrupts  # noqa: F401 - Ctrl-C from here on is one line

"""The command `rearrange`: one name for what the modules do, and a check of the installation."""

import interrupts  # noqa: F401 - Ctrl-C from here on is one line

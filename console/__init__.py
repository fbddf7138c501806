"""The command `rearrange`: one name for what the modules do, and a check of the installation."""

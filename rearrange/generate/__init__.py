"""Making episode files."""

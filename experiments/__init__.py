"""Tables and figures of the papers, again: `rearrange reproduce ver_table1`; see docs/papers.md."""

"""Other libraries' worlds, as the batched collector takes them."""

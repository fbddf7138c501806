"""A page in the browser that shows a world while somebody acts in it."""

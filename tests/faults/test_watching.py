"""Series W: what a watched folder may do, and what the library must know afterwards."""

"""Traced functions as files: what may stand in one, reading and writing them, calling them."""

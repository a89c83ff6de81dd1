"""Passes over graphs: pure functions, listed in `engine/pipeline.py`."""

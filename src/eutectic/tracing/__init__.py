"""From Python functions to graphs and back: tracing, captured state, compiled functions."""

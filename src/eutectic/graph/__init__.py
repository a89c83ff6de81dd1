"""The array-level intermediate form: nodes, graphs, tracing, and passes over graphs."""

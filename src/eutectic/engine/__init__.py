"""From graphs to running code: the pipeline, plans, plain evaluation, compiled functions."""

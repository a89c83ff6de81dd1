"""Transformations of functions: derivatives and vectorisation."""

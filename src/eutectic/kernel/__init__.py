"""Kernels: scalar bodies, the mathematics on them, and the loops around them."""

"""Code generation: LLVM text from scalar bodies, loops and matrix products."""

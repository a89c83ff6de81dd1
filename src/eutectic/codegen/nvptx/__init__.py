"""Kernels for NVIDIA GPUs: LLVM text for the NVPTX target from the same `KernelSpec`s."""

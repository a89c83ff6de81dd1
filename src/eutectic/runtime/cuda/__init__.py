"""NVIDIA GPUs: LLVM text to PTX, and the driver API.

Nothing here is imported unless a GPU is asked for.
"""

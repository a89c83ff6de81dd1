"""The runtime: loading machine code, the disk cache, the thread pool, native plans and memory."""

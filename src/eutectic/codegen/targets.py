"""What the code generator has to know about a processor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


LINE = 64
"""Bytes of a cache line; memory for arrays starts where a line does."""
STREAM_BYTES = 12 << 20
"""Results larger than this go past the caches (a share of the last-level cache)."""


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: vector registers and private caches, in bits, counts and bytes."""

    name: str
    vector_bits: int
    registers: int
    l1: int
    l2: int

    @property
    def masked_stores(self) -> bool:
        """Masked vector stores are single instructions (AVX and later)."""
        return self.vector_bits >= 256

    @property
    def attributes(self) -> str:
        """LLVM function attributes that keep the backend on full-width vectors."""
        return f'"prefer-vector-width"="{self.vector_bits}" nounwind'


AVX512 = Target("avx512", 512, 32, 32 << 10, 1 << 20)
AVX2 = Target("avx2", 256, 16, 32 << 10, 256 << 10)
NEON = Target("neon", 128, 32, 64 << 10, 512 << 10)
GENERIC = Target("generic", 128, 16, 32 << 10, 256 << 10)


def target_for(architecture: str, features: Mapping[str, bool]) -> Target:
    """The target that an architecture name and a set of LLVM features belong to."""
    has = features.get
    if has("avx512f") and has("avx512bw") and has("avx512vl") and has("avx512dq"):
        return AVX512
    if has("avx2") and has("fma") and has("f16c"):
        return AVX2
    return NEON if architecture.startswith(("aarch64", "arm64")) else GENERIC

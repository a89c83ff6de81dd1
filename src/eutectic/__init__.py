"""Eutectic: `mx.compile` built from scratch on LLVM. Import `eutectic.core as mx`."""

from eutectic.config import VERSION as __version__

__all__ = ["__version__"]

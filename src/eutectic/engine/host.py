"""The processor that plans are made for."""

from __future__ import annotations

from functools import cache

from eutectic.codegen.targets import Target, target_for
from eutectic.runtime import jit


@cache
def host_target() -> Target:
    """The target of the machine that runs this process."""
    host = jit.host()
    features = {f[1:]: f[0] == "+" for f in host.features.split(",") if f}
    return target_for(host.triple.split("-")[0], features)

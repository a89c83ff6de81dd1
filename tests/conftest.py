"""Settings for every test: checker on, a disk cache of its own, reproducible random programs."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from hypothesis import HealthCheck, settings

# Before eutectic is imported, which reads its settings once. Child processes inherit both.
os.environ["EUTECTIC_CHECK"] = "1"
os.environ["EUTECTIC_CACHE_DIR"] = tempfile.mkdtemp(prefix="eutectic-tests-")
atexit.register(shutil.rmtree, os.environ["EUTECTIC_CACHE_DIR"], ignore_errors=True)

# Choose with `pytest --hypothesis-profile=long`.
_common = dict(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", derandomize=True, max_examples=50, **_common)
settings.register_profile("long", max_examples=5000, **_common)
settings.load_profile("ci")


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true",
                     help="write the files of tests/codegen/golden anew")

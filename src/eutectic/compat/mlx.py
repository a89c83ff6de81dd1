"""`import eutectic.compat.mlx` lets `import mlx.core` give Eutectic: for notebooks and tests.

With pytest: `pytest -p eutectic.compat.mlx`.
"""

from eutectic.compat.imports import install

install()

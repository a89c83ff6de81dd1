"""What every row must reach (bar) and should reach (aim). `run.py` measures and judges them.

A goal is one of

    RATIO     our time over the best of jax, torch and mlx, at most: 1.00 is as fast as the fastest
    SPEED_UP  our plain time over our compiled time, at least
    OVER_MLX  mlx's compiled time over our plain time, at least
    TIME      milliseconds, at most
"""

from __future__ import annotations

from dataclasses import dataclass

RATIO, SPEED_UP, OVER_MLX, TIME = "ratio", "speed-up", "over mlx", "time"


@dataclass(frozen=True)
class Goal:
    """One row: the script that measures it, under which name, and what it is held to."""

    name: str
    script: str
    case: str
    kind: str
    bar: float
    aim: float

    @property
    def at_least(self) -> bool:
        return self.kind in (SPEED_UP, OVER_MLX)

    def verdict(self, value: float | None) -> str:
        if value is None:
            return ""
        sign = -1 if self.at_least else 1
        if sign * value <= sign * self.aim:
            return "aim met"
        return "bar met" if sign * value <= sign * self.bar else "BAR MISSED"


# `make bench`. Workloads: the compiled function beside the peers' compiled functions.
COMPILING = tuple(Goal(*row) for row in (
    # row                    script         case            kind      bar   aim
    ("chain20_512",          "peers.py",    "chain20_512",  RATIO,    1.0,  0.8),
    ("speed-up",             "peers.py",    "chain20_512",  SPEED_UP, 3.18, 5.0),
    ("plain_over_mlx",       "peers.py",    "chain20_512",  OVER_MLX, 10.0, 25.0),
    ("chain20_4096",         "peers.py",    "chain20_4096", RATIO,    1.0,  0.8),
    ("chain1_512",           "peers.py",    "chain1_512",   RATIO,    1.0,  0.8),
    ("chain1_4096",          "peers.py",    "chain1_4096",  RATIO,    1.1,  1.0),
    ("gelu_32M",             "peers.py",    "gelu_32M",     RATIO,    1.0,  0.8),
    ("softmax_mask",         "peers.py",    "softmax_mask", RATIO,    1.0,  0.8),
    ("ln_res_silu",          "peers.py",    "ln_res_silu",  RATIO,    1.0,  0.8),
    ("small100ops",          "peers.py",    "small100ops",  RATIO,    1.0,  0.8),
    ("anchor_kan",           "peers.py",    "anchor_kan",   RATIO,    1.0,  0.8),
    ("pairwise",             "peers.py",    "pairwise",     RATIO,    1.0,  0.8),
    ("matmul1024",           "peers.py",    "matmul1024",   RATIO,    1.0,  0.9),
    ("call_small",           "overhead.py", "call_small",   TIME,   0.008,  0.005),
    ("call_list100",         "overhead.py", "call_list100", TIME,   0.150,  0.060),
    ("first_seed",           "overhead.py", "first_seed",   TIME,   120.0,  60.0),
    ("first_small",          "overhead.py", "first_small",  TIME,    40.0,  20.0),
    ("warm_seed",            "overhead.py", "warm_seed",    TIME,    10.0,  4.0),
    ("warm_small",           "overhead.py", "warm_small",   TIME,    10.0,  4.0),
    ("new_shape",            "overhead.py", "new_shape",    TIME,     2.0,  1.0),
    ("import",               "overhead.py", "import",       TIME,   250.0,  120.0),
))

# `make bench-api`. Single operations as the API runs them. The aim is the bar: as fast as the best.
API = tuple(Goal(*row) for row in (
    # row                script            case                      kind   bar  aim
    ("small_matmuls",    "matmul.py",      "(512) 32x32 @ 32x32",    RATIO, 1.0, 1.0),
    ("matrix_vector",    "matmul.py",      "1x4096 @ 4096x4096",     RATIO, 1.0, 1.0),
    ("sort_4M",          "sorting.py",     "sort float32, one row",  RATIO, 1.0, 1.0),
    ("argsort_4M",       "sorting.py",     "argsort float32, one row", RATIO, 1.0, 1.0),
    ("cumsum_4M",        "indexing.py",    "cumsum 4M",              RATIO, 1.0, 1.0),
    ("take_4M",          "indexing.py",    "take 4M of 4M",          RATIO, 1.0, 1.0),
    ("scatter_add_4M",   "indexing.py",    "scatter-add 4M into 4M", RATIO, 1.0, 1.0),
    ("conv2d",           "convolution.py", "3x3, 64 to 64",          RATIO, 1.3, 1.3),
    ("attention",        "layers.py",      "attention",              RATIO, 1.0, 1.0),
    ("layer_norm",       "layers.py",      "layer_norm",             RATIO, 1.0, 1.0),
    ("rms_norm",         "layers.py",      "rms_norm",               RATIO, 1.0, 1.0),
    ("rope",             "layers.py",      "rope",                   RATIO, 1.0, 1.0),
    ("safetensors_1GB",  "files.py",       "safetensors load",       RATIO, 1.0, 1.0),
))

"""Functions on trees of lists, tuples and dicts, as in `mlx.utils`."""

from eutectic.utils.trees import (
    tree_flatten, tree_map, tree_map_with_path, tree_merge, tree_reduce, tree_unflatten)

__all__ = [
    "tree_flatten", "tree_map", "tree_map_with_path", "tree_merge", "tree_reduce",
    "tree_unflatten"]

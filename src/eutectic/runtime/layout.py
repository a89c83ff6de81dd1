from eutectic.graph.layout import Data, is_row_major, row_major  # noqa: F401

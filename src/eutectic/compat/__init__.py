"""Running MLX programs, unchanged: `eutectic run`, `import eutectic.compat.mlx`."""

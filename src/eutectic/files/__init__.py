"""Reading and writing arrays: .npy, .npz, .safetensors and .gguf files."""

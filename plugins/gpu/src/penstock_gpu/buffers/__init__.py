"""`GpuBuffer` and what it consists of: its storages, textures and their fences, and the pool of textures."""

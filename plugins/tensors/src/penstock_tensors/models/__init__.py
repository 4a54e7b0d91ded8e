"""Model files and the runtimes that run them."""

"""Lines and zones in the image: what crosses, enters and leaves them, how fast, how long, and who is told."""

"""Lines and zones in the image: what crosses and enters them, how fast, how long; sinks of events."""

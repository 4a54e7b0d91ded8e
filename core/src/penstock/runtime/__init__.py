"""The only place with threads and locks: it lends the engine's steps to executors."""

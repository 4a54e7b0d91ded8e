"""The lock of a run, the work that executors are lent, and the waits of the application."""

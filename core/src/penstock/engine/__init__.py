"""The state machine: standard library and `penstock.errors` only, no thread, lock, clock or I/O.

Packets, bounds and completions go in; the next runnable step comes out. `penstock.runtime` holds
the lock and the threads.
"""

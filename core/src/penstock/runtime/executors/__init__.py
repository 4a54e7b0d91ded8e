"""What lends threads to a run.

`executor` has the interface, and `assignment` decides which node runs on which executor. The executors
themselves are in packs.
"""

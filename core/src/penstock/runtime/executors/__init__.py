"""What lends threads to a run.

`executor` has the interface, and `graph_executors` decides which node runs on which executor. The executors
themselves are in packs.
"""

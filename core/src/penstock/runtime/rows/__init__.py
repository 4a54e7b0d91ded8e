"""Rows: the packets of several streams, put together by timestamp.

`rows` has what the application sees, `streams` the queues in a run, and `desk` the rows of one graph.
"""

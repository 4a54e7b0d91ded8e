"""Rows: the packets of several streams, put together by timestamp.

`rows` has what the application sees, `row_reader` the queues in a run; `runtime.row_desk` keeps the rows of
a graph.
"""

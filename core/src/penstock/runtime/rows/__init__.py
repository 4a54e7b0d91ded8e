"""Rows: the packets of several streams, put together by timestamp."""

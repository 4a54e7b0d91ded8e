"""From a `GraphSpec` to a checked `Plan`. All faults of a graph are reported at once, in file order.

`validate` is the entrance. This package imports no protobuf and nothing of `penstock.config`.
"""

"""The options that a graph gives to nodes, executors and handlers: protobuf messages, or attrs classes.

`options` finds those of one node by class, `types` knows all that a graph may name, `derived` makes messages
for attrs classes, and `instances` converts between the two.
"""

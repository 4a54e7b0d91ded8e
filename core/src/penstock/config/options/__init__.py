"""The options that a graph gives to nodes, executors and handlers: protobuf messages, or attrs classes.

`options` finds those of one node by class, `option_types` knows all that a graph may name, `message_class`
makes messages for attrs classes, `message_values` converts between the two, `messages` walks over messages.
"""

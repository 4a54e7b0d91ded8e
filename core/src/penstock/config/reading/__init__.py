"""From graph text, files, JSON and objects to a CalculatorGraphConfig message with the places of its parts.

`parse` is the entrance, and `graph_specs` the exit: it makes the `GraphSpec` that `penstock.check` takes.
"""

"""From a `GraphSpec` to a checked `Plan`: all faults at once, in file order. Knows no protobuf."""

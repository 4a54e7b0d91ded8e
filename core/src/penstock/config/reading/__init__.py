"""From text, files, JSON and messages to a CalculatorGraphConfig, and from that to a `GraphSpec`."""

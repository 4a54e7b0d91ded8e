"""Numbers of a graph that runs; see the README."""

from __future__ import annotations

from penstock_monitor.monitor import Monitor
from penstock_monitor.reading import Culprit, Latency, NodeReading, Reading, Stall, StreamReading

__all__ = ["Culprit", "Latency", "Monitor", "NodeReading", "Reading", "Stall", "StreamReading"]

"""Metrics of graphs while they run, for Prometheus and OpenTelemetry; see the README.

The names are imported when they are first used, so finding this pack does not import what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_metrics.prometheus import PrometheusMetrics as PrometheusMetrics
    from penstock_metrics.server import MetricsServer as MetricsServer
    from penstock_metrics.server import serve as serve
    from penstock_metrics.telemetry import Telemetry as Telemetry
    from penstock_metrics.telemetry import export_otlp as export_otlp

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_metrics.prometheus": "PrometheusMetrics",
    "penstock_metrics.server": "MetricsServer serve",
    "penstock_metrics.telemetry": "Telemetry export_otlp",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)

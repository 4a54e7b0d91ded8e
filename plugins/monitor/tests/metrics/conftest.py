from __future__ import annotations

import sys
from pathlib import Path

import pytest

import penstock

pytest.importorskip("prometheus_client", reason="penstock-monitor[prometheus] is not installed")
pytest.importorskip("opentelemetry.sdk", reason="penstock-monitor[otel] is not installed")
# Test modules import `scraping` by name.
sys.path.insert(0, str(Path(__file__).parent))
from scraping import CHAIN, PATIENCE_S


@pytest.fixture
def chain():
    graph = penstock.CalculatorGraph(CHAIN)
    yield graph
    if graph.is_running:
        graph.close(PATIENCE_S)

"""A Prometheus scrapes a running graph, and its API answers with the graph's numbers."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest
from scraping import PATIENCE_S, feed, fetched

import penstock_metrics

PROMETHEUS = shutil.which("prometheus")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(PROMETHEUS is None, reason="Prometheus is not installed (apt install prometheus)"),
]
CONFIG = """
global: {{ scrape_interval: 200ms, scrape_timeout: 200ms }}
scrape_configs:
  - job_name: penstock
    static_configs: [ {{ targets: ["127.0.0.1:{port}"] }} ]
"""


class Prometheus:
    """A Prometheus of its own, with its files in a directory."""

    def __init__(self, directory, target):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = directory / "prometheus.yml"
        config.write_text(CONFIG.format(port=target))
        self.log = (directory / "log").open("w")
        self.process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={config}",
                f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )

    def answer(self, path, **query):
        return json.loads(
            fetched(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}")
        )

    def values(self, query):
        """Return the answer to a query: the labels' values, without job and instance → value."""
        return {
            tuple(
                f"{name}={value}"
                for name, value in sorted(one["metric"].items())
                if name not in {"__name__", "instance", "job"}
            ): float(one["value"][1])
            for one in self.answer("query", query=query)["data"]["result"]
        }

    def until(self, query, wanted):
        """Ask until the answer is as wanted: what it scrapes, and when, is its own business."""
        deadline, seen, pause = time.monotonic() + PATIENCE_S, None, threading.Event()
        while time.monotonic() < deadline:
            try:
                seen = self.values(query)
            except OSError as error:  # it is starting
                seen = error
            if seen == wanted:
                return
            pause.wait(0.1)
        pytest.fail(f"{query}: {seen}, not {wanted}")

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.log.close()


@pytest.fixture
def scraping(tmp_path, chain):
    with penstock_metrics.serve(chain) as server:
        prometheus = Prometheus(tmp_path, server.port)
        yield prometheus
        prometheus.close()


def test_a_prometheus_has_the_counts_of_the_ledger_and_sees_no_reset_between_runs(chain, scraping) -> None:
    chain.start_run()
    feed(chain, range(1000))
    chain.wait_until_idle(PATIENCE_S)
    scraping.until(
        "penstock_packets_total", {("graph=chain", f"stream={s}"): 1000 for s in ("in", "middle", "out")}
    )
    ledger = chain.ledger()
    chain.close(PATIENCE_S)
    chain.start_run()
    feed(chain, range(500))
    chain.wait_until_idle(PATIENCE_S)
    scraping.until('penstock_steps_total{node="second"}', {("graph=chain", "node=second"): 1500})
    scraping.until('penstock_queue_limit{stream="in"}', {("graph=chain", "stream=in"): 100})
    targets = scraping.answer("targets")["data"]["activeTargets"]
    types = scraping.answer("metadata")["data"]

    assert {account.added for account in ledger.streams} == {1000}
    assert scraping.values("resets(penstock_packets_total[1m])") == {
        ("graph=chain", f"stream={s}"): 0 for s in ("in", "middle", "out")
    }
    assert [(target["health"], target["lastError"]) for target in targets] == [("up", "")]
    assert types["penstock_packets"][0]["type"] == "counter"  # of the family: OpenMetrics was agreed on
    assert types["penstock_latency_seconds"][0]["type"] == "histogram"
    assert types["penstock_queue_packets"][0]["type"] == "gauge"

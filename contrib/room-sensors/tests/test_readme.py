"""The examples of the README work: the README in the wheel, which package indexes show."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys

import penstock

README = importlib.metadata.metadata("penstock-room-sensors").get_payload()


def test_the_program_prints_the_result_in_its_comment():
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (promised,) = re.findall(r"print\(.*\)  # (.*)", program)

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout.strip()) == (0, promised), done.stderr


def test_the_graph_loads():
    (graph,) = re.findall(r"```\n(input_stream.*?)```", README, re.DOTALL)

    assert penstock.CalculatorGraph(graph).text_config.count("node {") == 3

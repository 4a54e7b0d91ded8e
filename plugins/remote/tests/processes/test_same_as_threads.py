"""Random graphs give the same on threads and in workers: packets, counters and ledger."""

from __future__ import annotations

import contextlib

import pytest

from penstock_processes.options import StartMethod
from penstock_processes.process_executor import ProcessExecutor
from penstock_testing import check_executor

PATIENCE_S = 60.0


def test_random_graphs_are_the_same_on_threads_and_in_workers(nothing_left) -> None:
    with contextlib.closing(ProcessExecutor(2)) as executor:
        assert check_executor(executor, range(60)) > 700, "the graphs do write something"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", ["FORKSERVER", "SPAWN"])
def test_two_thousand_random_graphs_are_the_same_on_threads_and_in_workers(start) -> None:
    with contextlib.closing(ProcessExecutor(2, start=StartMethod[start])) as executor:
        assert check_executor(executor, range(1000, 3000)) > 20_000

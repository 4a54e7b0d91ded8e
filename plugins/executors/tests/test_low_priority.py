from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

import pytest

import penstock
from penstock.errors import InvalidArgumentError
from penstock_executors import niceness
from penstock_executors.low_priority import LowPriorityThreadPoolExecutor
from penstock_executors.thread_pool import SingleThreadExecutor, ThreadPoolExecutor

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="nice levels of single threads are Linux's")
OPTIONS = "options {{ [penstock.ThreadPoolExecutorOptions.ext] {{ {} }} }}"


def my_level():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


class Level(penstock.Calculator):
    """Writes how nice the thread is that runs it."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set(int)

    def process(self, cc):
        cc.output.add(my_level(), cc.input_timestamp)


class Meet(penstock.Calculator):
    """Waits until as many threads are here as the barrier wants."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.input_side_packets["BARRIER"].set(threading.Barrier)

    def process(self, cc):
        cc.input_side_packets["BARRIER"].payload.wait(timeout=20)


@pytest.fixture
def registry(penstock_registry):
    own = penstock_registry.child()
    for kind in (ThreadPoolExecutor, SingleThreadExecutor, LowPriorityThreadPoolExecutor):
        own.add("executor", kind.__name__, kind)
    own.add_option(
        "penstock.ThreadPoolExecutorOptions",
        "penstock.MediaPipeOptions",
        157116819,
        "penstock_executors.messages.thread_pool_pb2:ThreadPoolExecutorOptions",
    )
    own.add("calculator", "Level", Level)
    own.add("calculator", "Meet", Meet)
    return own


def levels(registry, executor):
    """Return the nice levels that a node on the executor and one beside it see."""
    graph = penstock.CalculatorGraph(
        f'input_stream: "in" {executor} '
        'node { calculator: "Level" input_stream: "in" output_stream: "low" executor: "it" } '
        'node { calculator: "Level" input_stream: "in" output_stream: "beside" executor: "plain" } '
        f'executor {{ name: "plain" type: "ThreadPoolExecutor" {OPTIONS.format("num_threads: 1")} }}',
        registry=registry,
    )
    seen = {"low": [], "beside": []}
    for stream in seen:
        graph.observe_output_stream(stream, lambda name, packet: seen[name].append(packet.payload))
    with graph:
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    return seen


@linux_only
@pytest.mark.parametrize(
    ("kind", "options", "more"),
    [
        ("LowPriorityThreadPoolExecutor", "", 10),
        ("LowPriorityThreadPoolExecutor", "num_threads: 3 nice_priority_level: 4", 4),
        ("LowPriorityThreadPoolExecutor", "stack_size: 1048576", 10),
        ("ThreadPoolExecutor", "num_threads: 1 nice_priority_level: 7", 7),
        ("SingleThreadExecutor", "nice_priority_level: 2", 2),
    ],
)
def test_the_threads_of_one_executor_are_nicer_and_no_others(registry, kind, options, more):
    given = OPTIONS.format(options) if options else ""
    mine = my_level()

    seen = levels(registry, f'executor {{ name: "it" type: "{kind}" {given} }}')

    assert seen == {"low": [min(mine + more, 19)], "beside": [mine]}
    assert my_level() == mine


@linux_only
def test_the_system_stops_at_the_nicest_level(registry):
    options = OPTIONS.format("nice_priority_level: 1000")

    seen = levels(registry, f'executor {{ name: "it" type: "LowPriorityThreadPoolExecutor" {options} }}')

    assert seen["low"] == [19]


def run_two(registry, level):
    """Run a graph that is done only when two threads of the executor have been inside at once."""
    node = (
        'node { calculator: "Meet" input_stream: "in" input_side_packet: "BARRIER:barrier" executor: "it" }'
    )
    options = OPTIONS.format(f"num_threads: 2 nice_priority_level: {level}")
    graph = penstock.CalculatorGraph(
        f'input_stream: "in" executor {{ name: "it" type: "ThreadPoolExecutor" {options} }} {node} {node}',
        registry=registry,
    )
    with graph:
        graph.start_run({"barrier": threading.Barrier(2)})
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))


def warnings_of(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


def test_elsewhere_the_pool_warns_once_and_works_at_ordinary_priority(registry, caplog, monkeypatch):
    monkeypatch.setattr(niceness.sys, "platform", "plan9")
    monkeypatch.setattr(niceness.os, "setpriority", None)

    with caplog.at_level(logging.WARNING, "penstock"):
        run_two(registry, 5)

    assert warnings_of(caplog) == [
        "nice_priority_level 5 is without effect: threads have no nice level of their own on plan9"
    ]


@linux_only
def test_a_level_that_the_system_refuses_is_a_warning_and_the_pool_works(registry, caplog, monkeypatch):
    def refuse(which, who, level):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(niceness.os, "setpriority", refuse)

    with caplog.at_level(logging.WARNING, "penstock"):
        run_two(registry, -5)

    assert warnings_of(caplog) == ["nice_priority_level -5 is without effect: [Errno 13] Permission denied"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("nice_priority_level: 0", "nice_priority_level is 0, but low priority means a positive one"),
        ("nice_priority_level: -1", "nice_priority_level is -1, but low priority means a positive one"),
        ("num_threads: 0", "num_threads is 0, but must be positive"),
        ("stack_size: -1", "stack_size is -1, but must be positive"),
    ],
)
def test_options_that_are_not_low_priority_are_refused_when_the_graph_is_loaded(registry, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        levels(
            registry,
            f'executor {{ name: "it" type: "LowPriorityThreadPoolExecutor" {OPTIONS.format(options)} }}',
        )


def test_without_options_there_is_one_thread():
    assert LowPriorityThreadPoolExecutor().num_threads == 1


def test_a_pool_of_ordinary_threads_brings_no_logging():
    code = (
        "import sys; from penstock_executors.thread_pool import ThreadPoolExecutor; ThreadPoolExecutor(1); "
        "assert 'penstock_executors.niceness' not in sys.modules; assert 'logging' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

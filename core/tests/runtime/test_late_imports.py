"""What coroutines need is imported before the threads of a run begin, and an interrupt cannot break it off.

Each test runs a program of its own, since a process imports a module once.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

GRAPH = """
import sys
import penstock
from penstock.plugins.default_registry import default_registry

class Lent(penstock.ExecutorLease):
    helps = True

    def __init__(self, work):
        self.work = work

    def wake(self):
        self.work.notify_waiters()

    def stop(self, timeout=None):
        return True

    def help(self):
        return self.work.run()

class Inside(penstock.Executor):
    @classmethod
    def create(cls, options, defaults):
        return cls()

    def lend_to(self, work):
        return Lent(work)

class Waits(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)
        cc.outputs["OUT"].set(int)

    {process}
        cc.outputs["OUT"].add_packet(cc.inputs["IN"].packet)

registry = default_registry().child()
registry.add("calculator", "Waits", Waits)
registry.add("input stream handler", "DefaultInputStreamHandler", penstock.InputStreamHandler)
registry.add("executor", "ThreadPoolExecutor", Inside)
graph = penstock.CalculatorGraph(
    'input_stream: "in" node {{ calculator: "Waits" input_stream: "IN:in" output_stream: "OUT:out" }}',
    registry=registry,
)

def run():
    seen = []
    graph.observe_output_stream("out", lambda name, packet: seen.append(packet.payload))
    graph.start_run()
    print("asyncio" in sys.modules)
    graph.add_packet_to_input_stream("in", penstock.Packet(7, 1))
    graph.close_all_input_streams()
    graph.wait_until_done(20)
    print(seen)
"""


def output_of(program, process="async def process(self, cc):"):
    text = GRAPH.format(process=process) + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_a_graph_with_coroutines_imports_asyncio_when_it_starts() -> None:
    assert output_of("run()")[:2] == ["True", "[7]"]


def test_a_graph_without_coroutines_does_not_import_it() -> None:
    assert output_of("run()", process="def process(self, cc):")[:2] == ["False", "[7]"]


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to one thread")
def test_an_interrupt_during_the_import_leaves_a_process_in_which_coroutines_run() -> None:
    lines = output_of(
        """
        import importlib.abc
        import signal
        import threading

        class Interrupts(importlib.abc.MetaPathFinder):
            '''Interrupts the main thread in the middle of the import of asyncio.'''

            def find_spec(self, name, path, target=None):
                if name == "asyncio.events" and self in sys.meta_path:
                    sys.meta_path.remove(self)
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                    caught.wait(20)  # the main thread takes the interrupt before the import goes on
                return None

        caught = threading.Event()
        sys.meta_path.insert(0, Interrupts())
        try:
            graph.start_run()
        except KeyboardInterrupt:
            print("interrupted")
        caught.set()
        assert not graph.is_running
        run()
        """
    )

    assert lines[:3] == ["interrupted", "True", "[7]"]


def test_a_thread_that_adds_while_asyncio_is_half_imported_is_not_on_an_event_loop() -> None:
    lines = output_of(
        """
        import types

        sys.modules["asyncio"] = types.ModuleType("asyncio")  # as another thread's import leaves it meanwhile
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(7, 1))
        print(graph.is_running)
        del sys.modules["asyncio"]
        graph.close_all_input_streams()
        graph.wait_until_done(20)
        """,
        process="def process(self, cc):",
    )

    assert lines[0] == "True"

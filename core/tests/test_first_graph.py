"""What a first small graph imports: little, or it would take longer than importing numpy."""

import os
import subprocess
import sys

#: What some graphs need and most do not.
NOT_NEEDED = {
    "asyncio",
    "attr",
    "concurrent.futures",
    "difflib",
    "google",
    "importlib.metadata",
    "importlib.resources",
    "json",
    "logging",
    "numpy",
    "pathlib",
    "penstock.config.options.message_class",
    "penstock.config.subgraphs.expand",
    "penstock.config.reading.parse",
    "penstock_templates.template",
    "penstock.explain.why_search",
    "penstock.log",
    "penstock.runtime.event_loops.task_futures",
    "penstock.runtime.report",
    "penstock.runtime.tracing",
    "penstock.tracing",
}

#: How many modules it may import: of the core as many as it does, so that no other comes in unnoticed, and of
#: the standard library and pluggy, which differ from one Python to the next.
MOST_OF_CORE = 119
MOST_OTHERS = 80

PROGRAM = """
import sys
before = set(sys.modules)
import penstock
from penstock.plugins.default_registry import default_registry

class Double(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)

    def process(self, cc):
        cc.outputs[0].add(cc.inputs[0].payload * 2, cc.input_timestamp)

class Inside(penstock.Executor):
    @classmethod
    def create(cls, options, defaults):
        return cls()

    def lend_to(self, work):
        return Lent(work)

class Lent(penstock.ExecutorLease):
    helps = True

    def __init__(self, work):
        self.work = work

    def wake(self):
        self.work.notify_waiters()

    def help(self):
        return self.work.run()

    def stop(self, timeout=None):
        return True

registry = default_registry().child()
registry.add("calculator", "Double", Double)
registry.add("input stream handler", "DefaultInputStreamHandler", penstock.InputStreamHandler)
registry.add("executor", "ThreadPoolExecutor", Inside)
graph = penstock.CalculatorGraph(
    "input_stream: 'a' node { calculator: 'Double' input_stream: 'a' output_stream: 'b' }", registry=registry
)
seen = []
graph.observe_output_stream("b", lambda _, packet: seen.append(packet.payload))
graph.start_run()
graph.add_packet_to_input_stream("a", penstock.Packet(4, 0))
graph.close()
assert seen == [8], seen
print(*set(sys.modules) - before)
"""


def imported(**variables):
    """Return the modules that the program imports."""
    ended = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM],
        env={name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
        | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.split())


def test_a_first_small_graph_imports_nothing_that_only_others_need():
    found = imported(PENSTOCK_NO_PLUGINS="1")

    ours = {name for name in found if name.partition(".")[0] == "penstock"}
    assert "penstock.runtime.graph" in found
    assert sorted(found & NOT_NEEDED) == []
    assert len(ours) <= MOST_OF_CORE, sorted(ours)
    assert len(found - ours) <= MOST_OTHERS, sorted(found - ours)


def test_the_second_process_imports_no_plugin_without_a_hook_of_runs(tmp_path):
    imported(XDG_CACHE_HOME=str(tmp_path))  # it keeps what the plugins bring
    found = imported(XDG_CACHE_HOME=str(tmp_path))

    assert list(tmp_path.rglob("names-*"))
    not_needed = {"inspect", "pluggy", "penstock.plugins.discovery", "penstock.plugins.kept_names_writer"}
    assert not found & {*not_needed, "penstock_image.plugin"}

"""Reading and checking a graph take time linear in its nodes.

The bounds are wide: they fail for a wrong algorithm, not on a busy machine.
"""

import time

import pytest

from penstock.check.faults import Faults
from penstock.check.name_lookups import Names
from penstock.check.validate import validate
from penstock.collector import PAUSE
from penstock.config.options.options import options_of
from penstock.config.reading.graph_specs import graph_spec
from penstock.config.reading.parse import read_graph


@pytest.fixture
def seconds(registry, declare):
    def seconds(size, *, backwards=False):
        nodes = [
            f'node {{ calculator: "PassCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}\n'
            for i in range(size)
        ]
        text = 'input_stream: "s0"\n' + "".join(nodes[::-1] if backwards else nodes)
        spec = graph_spec(*read_graph(text, registry)[:2])
        times = []
        for _ in range(3):
            names = Names(registry, "", Faults(spec.places))
            with PAUSE:  # as `build_plan` does: a collection goes over all that the process holds
                start = time.process_time()
                plan = validate(spec, names, options_of)
                times.append(time.process_time() - start)
            assert len(plan.nodes) == size
        return min(times)

    return seconds


@pytest.mark.timing
@pytest.mark.parametrize("backwards", [False, True])
def test_four_times_the_nodes_take_about_four_times_as_long(seconds, backwards):
    small, large = seconds(1000, backwards=backwards), seconds(4000, backwards=backwards)

    assert large / small < 12, f"{small:.3f} s for 1,000 nodes, {large:.3f} s for 4,000"


@pytest.mark.timing
def test_a_chain_of_five_thousand_nodes_is_checked_in_a_moment(seconds):
    assert seconds(5000) < 3


def test_reading_is_linear_too(registry):
    def read(size):
        text = "".join(
            f'node {{ calculator: "C" input_stream: "s{i}" }} ' for i in range(size)
        )  # all in one line
        start = time.process_time()
        graph_spec(*read_graph(text, registry)[:2])
        return time.process_time() - start

    read(10)
    small, large = min(read(500) for _ in range(3)), min(read(2000) for _ in range(3))

    assert large / small < 12, f"{small:.3f} s for 500 nodes, {large:.3f} s for 2,000"

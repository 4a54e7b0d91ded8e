"""GraphProfileCalculator: writes how often the graph's nodes were called, and how long that took."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import penstock
from penstock.config import CalculatorGraphConfig
from penstock.errors import InvalidArgumentError
from penstock.explain import GRAPH
from penstock.ports import TagMap, parse_tag_index
from penstock_calculators.messages.graph_profile_pb2 import (
    CalculatorProfile,
    GraphProfile,
    GraphProfileCalculatorOptions,
    TimeHistogram,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.explain import NodeState


class GraphProfileCalculator(penstock.Calculator):
    """Writes, from time to time, how often each node of the graph was called and how long that took.

    It has any number of inputs FRAME, and writes at their timestamps: at the first, and then at each that
    is at least `profile_interval` microseconds after the last profile::

        FRAME    0  400000  1000000  1900000  2000000
        PROFILE  a  .       b        .        c          (with the default interval)

    A profile counts from the one before; another calculator of this kind counts for itself. For each node,
    `process_runtime` has the number of completed calls of `process` in its only bucket and their
    microseconds in `total`; `input_stream_profiles` name the node's inputs. The first profile also has the
    graph itself, `config`. Fields that are not measured are not set: latencies, the time of `open` and
    `close`, traces.

    Nodes are timed if the graph sets `profiler_config { enable_profiler: true }`, or the application calls
    `graph.set_timing()`; without it a profile has no nodes. `profiler_config { calculator_filter: "..." }`
    leaves out the nodes whose names do not match the regular expression as a whole.

    Options: `profile_interval`: see above (default 1000000). The timestamp offset is 0. The timestamps of
    the profiles do not depend on the order of arrival; their contents, times and calls so far, do.

    Source of the behaviour: MediaPipe `calculators/core/graph_profile_calculator.cc`.

    Example config::

        node {
          calculator: "GraphProfileCalculator"
          input_stream: "FRAME:frames"
          output_stream: "PROFILE:profile"
          options {
            [penstock.GraphProfileCalculatorOptions.ext] { profile_interval: 5000000 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports, and ask for the graph."""
        for i in range(max(cc.inputs.count("FRAME"), 1)):
            cc.inputs["FRAME", i].set_any("the timestamps at which to write")
        cc.outputs["PROFILE"].set(GraphProfile, "calls and times of the nodes since the last profile")
        cc.use_service(GRAPH)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options, and the graph.

        Raises:
            InvalidArgumentError: the graph's calculator_filter is not a regular expression.
        """
        self._interval = cc.options(GraphProfileCalculatorOptions).profile_interval
        self._graph = cc.service(GRAPH)
        self._config = CalculatorGraphConfig.FromString(self._graph.binary_config)
        wanted = self._config.profiler_config.calculator_filter or ".*"
        try:
            self._wanted = re.compile(wanted, re.DOTALL)
        except re.error as error:
            raise InvalidArgumentError(
                f"the graph profile cannot be filtered: calculator_filter {wanted!r} of profiler_config is "
                f"not a regular expression: {error}"
            ) from error
        self._inputs = [_inputs(node) for node in self._config.node]
        self._written: dict[str, tuple[int, int]] = {}
        self._last: int | None = None

    def process(self, cc: CalculatorContext) -> None:
        """Write a profile if the interval is over."""
        if self._last is not None and cc.stamp - self._last < self._interval:
            return
        nodes = self._graph.snapshot().nodes
        profile = GraphProfile()
        if self._graph.is_timed:
            profile.calculator_profiles.extend(self._profiles(nodes))
        if self._last is None:
            profile.config.CopyFrom(self._config)
            for node, state in zip(
                profile.config.node, nodes, strict=False
            ):  # a graph built by hand has no config
                node.name = state.name
        self._last = cc.stamp
        cc.outputs["PROFILE"].add(profile, cc.stamp)

    def _profiles(self, nodes: tuple[NodeState, ...]) -> list[CalculatorProfile]:
        """Return a profile of each selected node, with its calls since the last profile."""
        found = []
        for node, inputs in zip(nodes, self._inputs, strict=True):
            if self._wanted.fullmatch(node.name) is None:
                continue
            now = node.steps, round(node.busy_s * 1e6)
            steps, busy = self._written.get(node.name, (0, 0))
            self._written[node.name] = now
            one = CalculatorProfile(
                name=node.name,
                process_runtime=TimeHistogram(
                    total=now[1] - busy, interval_size_usec=1_000_000, num_intervals=1, count=[now[0] - steps]
                ),
            )
            for name, back_edge in inputs:
                one.input_stream_profiles.add(name=name, back_edge=back_edge)
            found.append(one)
        return found


def _inputs(node: CalculatorGraphConfig.Node) -> list[tuple[str, bool]]:
    """Return, for each input of a node, its name and whether it is a back edge, in the order of ports."""
    back = {parse_tag_index(info.tag_index) for info in node.input_stream_info if info.back_edge}
    return [(port.name, (port.tag, port.index) in back) for port in TagMap(node.input_stream)]

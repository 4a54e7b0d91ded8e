"""`ValidatedGraphConfig`, as programs for MediaPipe's framework know it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.config import build_plan, to_binary, to_text
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.packs import default_registry
from penstock_mediapipe.message_names import core_config
from penstock_mediapipe.python_errors import as_graph_errors

if TYPE_CHECKING:
    from penstock.lowlevel import Plan


class ValidatedGraphConfig:
    """A graph that is read, expanded and checked, once."""

    def __init__(self) -> None:
        self._plan: Plan | None = None

    def initialize(
        self, binary_graph_path: str | os.PathLike[str] | None = None, graph_config: Any = None
    ) -> None:
        """Read a graph.

        Args:
            binary_graph_path: of a .binarypb file.
            graph_config: graph text, or a CalculatorGraphConfig message, instead.

        Raises:
            ValueError: not exactly one is given.
            FileNotFoundError: there is no such file.
            RuntimeError: the graph is wrong, or there is one already; where a calculator refuses how it is
                connected, a ValueError.
        """
        if self._plan is not None:
            raise FailedPreconditionError("a ValidatedGraphConfig is initialized once; make another one")
        self._plan = plan_of(binary_graph_path, graph_config)

    def initialized(self) -> bool:
        """Return whether there is a graph."""
        return self._plan is not None

    @property
    def plan(self) -> Plan:
        """The checked graph.

        Raises:
            RuntimeError: there is none yet.
        """
        if self._plan is None:
            raise FailedPreconditionError("this ValidatedGraphConfig is empty; call initialize() first")
        return self._plan

    @property
    def text_config(self) -> str:
        """The expanded graph as text; "" where there is none."""
        return "" if self._plan is None else to_text(self._plan.config, self._plan.option_types)

    @property
    def binary_config(self) -> bytes:
        """The expanded graph, serialized; empty where there is none."""
        return b"" if self._plan is None else to_binary(self._plan.config)

    def registered_stream_type_name(self, stream_name: str) -> str:
        """Return the name of the type of a stream, as Penstock has it.

        Raises:
            ValueError: there is no such stream.
            RuntimeError: every type may come.
        """
        plan = self.plan
        if stream_name not in plan.stream_ids:
            raise InvalidArgumentError(
                f"the validated graph config has no stream {stream_name!r}", stream=stream_name
            )
        return _known(plan.streams[plan.stream_ids[stream_name]].type_name, f"stream {stream_name!r}")

    def registered_side_packet_type_name(self, side_packet_name: str) -> str:
        """Return the name of the type of a side packet, as Penstock has it.

        Raises:
            ValueError: there is no such side packet.
            RuntimeError: every type may come.
        """
        nodes = self.plan.nodes
        ports = [port for node in nodes for port in (*node.input_side_packets, *node.output_side_packets)]
        names = [port.type_name for port in ports if port.name == side_packet_name]
        if not names:
            raise InvalidArgumentError(f"the graph has no side packet {side_packet_name!r}")
        return _known(next((one for one in names if one != _ANY), _ANY), f"side packet {side_packet_name!r}")


_ANY = "any type"


def _known(type_name: str, what: str) -> str:
    if type_name == _ANY:
        raise FailedPreconditionError(f"nothing in the validated graph says what {what} carries")
    return type_name


def plan_of(binary_graph_path: str | os.PathLike[str] | None, graph_config: Any) -> Plan:
    """Return a checked graph; see `ValidatedGraphConfig.initialize`."""
    if (binary_graph_path is None) == (graph_config is None):
        given = "neither" if graph_config is None else "both"
        raise InvalidArgumentError(
            f"{given} of binary_graph_path and graph_config given for the graph to validate; give exactly one"
        )
    if binary_graph_path is not None and not Path(binary_graph_path).is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(binary_graph_path))
    with as_graph_errors():
        path = None if binary_graph_path is None else Path(binary_graph_path)
        return build_plan(core_config(graph_config), default_registry(), binary_graph_path=path)

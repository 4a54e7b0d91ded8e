"""Penstock: perception pipelines in Python. This module has the public names only.

Importing it imports no plugin, no protobuf and no numpy: each name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.late_names import late_names

if TYPE_CHECKING:
    from penstock.config.subgraphs.subgraph import Subgraph, SubgraphContext
    from penstock.contract import CalculatorContract
    from penstock.engine.calculator import STOP, Calculator, CalculatorContext
    from penstock.engine.input import Input
    from penstock.engine.input_stream_handler import NOT_READY, READY_FOR_CLOSE, InputStreamHandler
    from penstock.engine.output import Output
    from penstock.engine.packet import Packet
    from penstock.errors import (
        CalculatorError,
        GraphConfigError,
        GraphParseError,
        GraphRunError,
        PenstockError,
        StatusCode,
        WaitTimeoutError,
    )
    from penstock.plugins.default_registry import register_calculator
    from penstock.plugins.doctor import DoctorCheck
    from penstock.plugins.hookspecs import Components, hookimpl
    from penstock.registry import Registry
    from penstock.runtime.executors.executor import Executor, ExecutorDefaults, Lease, Work
    from penstock.runtime.graph import CalculatorGraph
    from penstock.runtime.modes import GraphInputStreamAddMode, LatePacketMode
    from penstock.runtime.poller import OutputStreamPoller
    from penstock.runtime.rows.rows import Row, Rows
    from penstock.runtime.run import run
    from penstock.runtime.running import Running
    from penstock.services import ServiceKey
    from penstock.timestamp import Timestamp
    from penstock_functions import CalculatorFunction, SidePacket, calculator
    from penstock_templates.graph_template import GraphTemplate

__version__: Final = "0.1.0"

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.config.subgraphs.subgraph": "Subgraph SubgraphContext",
    "penstock.contract": "CalculatorContract",
    "penstock.engine.calculator": "Calculator CalculatorContext STOP",
    "penstock.engine.input": "Input",
    "penstock.engine.output": "Output",
    "penstock.engine.packet": "Packet",
    "penstock.engine.input_stream_handler": "InputStreamHandler NOT_READY READY_FOR_CLOSE",
    "penstock.errors": (
        "CalculatorError GraphConfigError GraphParseError GraphRunError PenstockError StatusCode "
        "WaitTimeoutError"
    ),
    "penstock.plugins.doctor": "DoctorCheck",
    "penstock.plugins.hookspecs": "Components hookimpl",
    "penstock.registry": "Registry",
    "penstock.plugins.default_registry": "register_calculator",
    "penstock.runtime.executors.executor": "Executor ExecutorDefaults Lease Work",
    "penstock.runtime.graph": "CalculatorGraph",
    "penstock.runtime.modes": "GraphInputStreamAddMode LatePacketMode",
    "penstock.runtime.poller": "OutputStreamPoller",
    "penstock.runtime.rows.rows": "Row Rows",
    "penstock.runtime.run": "run",
    "penstock.runtime.running": "Running",
    "penstock.services": "ServiceKey",
    "penstock.timestamp": "Timestamp",
}

#: Door → the names that it leads to; see `penstock.doors`.
_DOORS: Final = {"functions": "CalculatorFunction SidePacket calculator", "templates": "GraphTemplate"}

__all__ = [
    "NOT_READY",
    "READY_FOR_CLOSE",
    "STOP",
    "Calculator",
    "CalculatorContext",
    "CalculatorContract",
    "CalculatorError",
    "CalculatorFunction",
    "CalculatorGraph",
    "Components",
    "DoctorCheck",
    "Executor",
    "ExecutorDefaults",
    "GraphConfigError",
    "GraphInputStreamAddMode",
    "GraphParseError",
    "GraphRunError",
    "GraphTemplate",
    "Input",
    "InputStreamHandler",
    "LatePacketMode",
    "Lease",
    "Output",
    "OutputStreamPoller",
    "Packet",
    "PenstockError",
    "Registry",
    "Row",
    "Rows",
    "Running",
    "ServiceKey",
    "SidePacket",
    "StatusCode",
    "Subgraph",
    "SubgraphContext",
    "Timestamp",
    "WaitTimeoutError",
    "Work",
    "calculator",
    "hookimpl",
    "register_calculator",
    "run",
]


#: Modules that can be used as `penstock.<name>` after `import penstock`, though no graph imports them.
_MODULES: Final = ("explain", "log", "lowlevel", "tracing")

__getattr__, __dir__ = late_names(__name__, _HOMES, _MODULES, _DOORS)

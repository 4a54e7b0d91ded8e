"""Penstock: perception pipelines in Python. This module has the public names only.

Importing it imports no plugin, no protobuf and no numpy: each name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.late_names import late_names

if TYPE_CHECKING:
    from penstock import error_text as error_text, explain as explain, functions as functions
    from penstock import limits as limits, log as log, lowlevel as lowlevel, packs as packs
    from penstock import ports as ports, readers as readers, runs as runs, tracing as tracing
    from penstock import types as types
    from penstock.config.subgraphs.subgraph import Subgraph as Subgraph, SubgraphContext as SubgraphContext
    from penstock.contract import CalculatorContract as CalculatorContract
    from penstock.engine.calculator import Calculator as Calculator
    from penstock.engine.outcome import STOP as STOP
    from penstock.engine.calculator import CalculatorContext as CalculatorContext
    from penstock.engine.input_port import Input as Input
    from penstock.engine.input_stream_handler import NOT_READY as NOT_READY
    from penstock.engine.input_stream_handler import READY_FOR_CLOSE as READY_FOR_CLOSE
    from penstock.engine.input_stream_handler import InputStreamHandler as InputStreamHandler
    from penstock.engine.output_port import Output as Output
    from penstock.engine.packet import Packet as Packet
    from penstock.errors import CalculatorError as CalculatorError, GraphConfigError as GraphConfigError
    from penstock.errors import GraphParseError as GraphParseError, GraphRunError as GraphRunError
    from penstock.errors import PenstockError as PenstockError, StatusCode as StatusCode
    from penstock.errors import WaitTimeoutError as WaitTimeoutError
    from penstock.functions.annotations import SidePacket as SidePacket
    from penstock.functions.calculator_function import CalculatorFunction as CalculatorFunction
    from penstock.functions.calculator_function import calculator as calculator
    from penstock.functions.run_graph import run as run
    from penstock.plugins.register_calculator import register_calculator as register_calculator
    from penstock.plugins.doctor import DoctorCheck as DoctorCheck
    from penstock.plugins.hookspecs import hookimpl as hookimpl
    from penstock.plugins.plugin_components import Components as Components
    from penstock.registry import Registry as Registry
    from penstock.runtime.executors.executor import Executor as Executor, ExecutorDefaults as ExecutorDefaults
    from penstock.runtime.executors.executor import ExecutorLease as ExecutorLease, Work as Work
    from penstock.runtime.graph import CalculatorGraph as CalculatorGraph
    from penstock.runtime.graph_input_modes import GraphInputStreamAddMode as GraphInputStreamAddMode
    from penstock.runtime.graph_input_modes import LatePacketMode as LatePacketMode
    from penstock.runtime.poller import OutputStreamPoller as OutputStreamPoller
    from penstock.runtime.rows.rows import Row as Row, Rows as Rows
    from penstock.runtime.running import Running as Running
    from penstock.services import ServiceKey as ServiceKey
    from penstock.timestamp import Timestamp as Timestamp

__version__: Final = "0.1.0"

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.config.subgraphs.subgraph": "Subgraph SubgraphContext",
    "penstock.contract": "CalculatorContract",
    "penstock.engine.calculator": "Calculator CalculatorContext",
    "penstock.engine.input_port": "Input",
    "penstock.engine.outcome": "STOP",
    "penstock.engine.output_port": "Output",
    "penstock.engine.packet": "Packet",
    "penstock.engine.input_stream_handler": "InputStreamHandler NOT_READY READY_FOR_CLOSE",
    "penstock.errors": (
        "CalculatorError GraphConfigError GraphParseError GraphRunError PenstockError StatusCode "
        "WaitTimeoutError"
    ),
    "penstock.functions.annotations": "SidePacket",
    "penstock.functions.calculator_function": "CalculatorFunction calculator",
    "penstock.functions.run_graph": "run",
    "penstock.plugins.doctor": "DoctorCheck",
    "penstock.plugins.hookspecs": "hookimpl",
    "penstock.plugins.plugin_components": "Components",
    "penstock.registry": "Registry",
    "penstock.plugins.register_calculator": "register_calculator",
    "penstock.runtime.executors.executor": "Executor ExecutorDefaults ExecutorLease Work",
    "penstock.runtime.graph": "CalculatorGraph",
    "penstock.runtime.graph_input_modes": "GraphInputStreamAddMode LatePacketMode",
    "penstock.runtime.poller": "OutputStreamPoller",
    "penstock.runtime.rows.rows": "Row Rows",
    "penstock.runtime.running": "Running",
    "penstock.services": "ServiceKey",
    "penstock.timestamp": "Timestamp",
}

#: Modules that can be used as `penstock.<name>` after `import penstock`, which imports none of them.
_MODULES: Final = (
    "error_text",
    "explain",
    "functions",
    "limits",
    "log",
    "lowlevel",
    "packs",
    "ports",
    "readers",
    "runs",
    "tracing",
    "types",
)

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES, _MODULES)

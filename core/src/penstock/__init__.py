"""Penstock: perception pipelines in Python. This module has the public names only.

Importing it imports no plugin, no protobuf and no numpy: each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock.config.subgraphs.subgraph import Subgraph, SubgraphContext
    from penstock.contract import CalculatorContract
    from penstock.engine.calculator import STOP, Calculator, CalculatorContext, Input, Output
    from penstock.engine.packet import Packet
    from penstock.engine.policy import NOT_READY, READY_FOR_CLOSE, InputStreamHandler
    from penstock.errors import (
        CalculatorError,
        GraphConfigError,
        GraphParseError,
        GraphRunError,
        PenstockError,
        StatusCode,
        WaitTimeoutError,
    )
    from penstock.functions import CalculatorFunction, SidePacket, calculator
    from penstock.plugins.doctor import DoctorCheck
    from penstock.plugins.hookspecs import Components, hookimpl
    from penstock.registry import Registry
    from penstock.runtime.default import register_calculator
    from penstock.runtime.executors.executor import Executor, ExecutorDefaults, Lease, Work
    from penstock.runtime.graph import CalculatorGraph
    from penstock.runtime.modes import GraphInputStreamAddMode, LatePacketMode
    from penstock.runtime.poller import OutputStreamPoller
    from penstock.runtime.rows.rows import Row, Rows
    from penstock.runtime.run import run
    from penstock.runtime.running import Running
    from penstock.services import ServiceKey
    from penstock.timestamp import Timestamp
    from penstock_templates.graph_template import GraphTemplate

__version__: Final = "0.1.0"

_HOME: Final = {
    "NOT_READY": "engine.policy",
    "READY_FOR_CLOSE": "engine.policy",
    "STOP": "engine.calculator",
    "Calculator": "engine.calculator",
    "CalculatorContext": "engine.calculator",
    "CalculatorContract": "contract",
    "CalculatorError": "errors",
    "CalculatorFunction": "functions",
    "CalculatorGraph": "runtime.graph",
    "Components": "plugins.hookspecs",
    "DoctorCheck": "plugins.doctor",
    "Executor": "runtime.executors.executor",
    "ExecutorDefaults": "runtime.executors.executor",
    "GraphConfigError": "errors",
    "GraphInputStreamAddMode": "runtime.modes",
    "LatePacketMode": "runtime.modes",
    "GraphParseError": "errors",
    "GraphRunError": "errors",
    "GraphTemplate": "templates",
    "Input": "engine.calculator",
    "InputStreamHandler": "engine.policy",
    "Lease": "runtime.executors.executor",
    "Output": "engine.calculator",
    "OutputStreamPoller": "runtime.poller",
    "Packet": "engine.packet",
    "PenstockError": "errors",
    "Registry": "registry",
    "Row": "runtime.rows.rows",
    "Rows": "runtime.rows.rows",
    "Running": "runtime.running",
    "ServiceKey": "services",
    "SidePacket": "functions",
    "StatusCode": "errors",
    "Subgraph": "config.subgraphs.subgraph",
    "SubgraphContext": "config.subgraphs.subgraph",
    "Timestamp": "timestamp",
    "WaitTimeoutError": "errors",
    "Work": "runtime.executors.executor",
    "calculator": "functions",
    "hookimpl": "plugins.hookspecs",
    "register_calculator": "runtime.default",
    "run": "runtime.run",
}

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


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if name in _MODULES:
        return import_module(f"penstock.{name}")
    if home is None:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = getattr(import_module(f"penstock.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})

"""What all sources must do when they log: one way, and the place in the graph as data."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
#: Modules that may ask the standard library for a logger: that way, and those that show what others log.
MAY_ASK = {
    "penstock/log.py",
    "penstock_cli/saying.py",
    "penstock_cli/graphs/checking.py",
    "penstock_editor/serving.py",
    "penstock_processes/link.py",
    "penstock_processes/worker.py",
    "penstock_ray/host.py",
    "penstock_ray/link.py",
    "penstock_remote/logs.py",
}
#: What logs of plugins, runs, threads and GL contexts as a whole. Everything else speaks of a node or stream.
OF_THE_WHOLE = (
    "penstock/plugins/",
    "penstock/runtime/",
    "penstock/tracing/",
    "penstock_executors/",
    "penstock_gpu/cuda/bridge.py",
    "penstock_gpu/buffers/gl_texture_object.py",
    "penstock_gpu/buffers/texture_storage.py",
    "penstock_gpu/contexts/gl_thread.py",
    "penstock_lint/lint.py",
    "penstock_live/jupyter/live.py",
    "penstock_metrics/",
    "penstock_monitor/monitor.py",
    "penstock_ray/cluster.py",
    "penstock_ray/link.py",
    "penstock_views/",
    "penstock_gpu/contexts/locked_context.py",
)


def sources() -> Iterator[tuple[str, Path]]:
    """Yield (path below src, file) of every module of every distribution."""
    for folder in ("core", "plugins/*", "subgraphs/*", "contrib/*"):
        for src in sorted(ROOT.glob(f"{folder}/src")):
            for file in sorted(src.rglob("*.py")):
                if not file.name.endswith("_pb2.py") and "template" not in file.parts:
                    yield file.relative_to(src).as_posix(), file


LOGGING = [(name, file) for name, file in sources() if "log" in file.read_text(encoding="utf-8").lower()]


def calls(file: Path) -> Iterator[ast.Call]:
    """Yield the calls of a logger's methods: of `..._logger`, `..._LOG` and what `get_logger` returns."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            of = ast.unparse(node.func.value)
            if re.search(r"(?i)(^|_)log(ger)?$|get_logger\(", of):
                yield node


def test_there_are_calls_to_look_at() -> None:
    speaking = [file for name, file in LOGGING if not name.startswith(OF_THE_WHOLE)]

    assert sum(len(list(calls(file))) for file in speaking) >= 10


@pytest.mark.parametrize(("name", "file"), LOGGING, ids=[name for name, _ in LOGGING])
def test_loggers_come_from_the_one_door_and_records_have_their_place(name: str, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    without = [node.lineno for node in calls(file) if not any(word.arg == "extra" for word in node.keywords)]

    assert name in MAY_ASK or "logging.getLogger(" not in text
    assert not without or name.startswith(OF_THE_WHOLE), f"calls without extra=place(...) in lines {without}"

"""Give every option of every calculator extreme numbers, feed the calculator, and look what it takes.

    uv run python scripts/trials/extreme_options.py
    uv run python scripts/trials/extreme_options.py --only Anchors    calculators whose name has this word
    uv run python scripts/trials/extreme_options.py --only SsdAnchors --field num_layers

Each number of an options message, also inside of other messages and in lists, is set to each of some
extremes, one at a time; the rest is as in the calculator's example. The calculator is then fed as the test
kit feeds it (`penstock_testing.check_calculator`, with the payloads of `tests/test_calculators_conform.py`),
in a process of its own with limits of memory and time. A finding is a process that was ended or took too
long, an error that is no PenstockError, or more than --most MiB; the exit status is then 1. Calculators that
the kit does not feed are printed at the end. Linux only.
"""

from __future__ import annotations

import argparse
import importlib
import io
import logging
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from google.protobuf import message_factory

from penstock.config import CalculatorGraphConfig, to_text
from penstock.config.options.option_types import OptionTypes
from penstock.errors import PenstockError
from penstock_templates.field_values import is_repeated
from penstock_testing import ConformanceError, check_calculator
from penstock_testing.connections import example_of, graph_of, node_named
from penstock_testing.run import set_options
from penstock_views.describe.component import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock import Registry

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
#: Numbers of protobuf's types → the extremes.
_INT32: Final = (2**31 - 1, -(2**31), 10**6)
_FLOATS: Final = (3e38, -1.0, 1e-30, float("inf"), float("nan"))
EXTREMES: Final[dict[int, tuple[Any, ...]]] = {
    1: (1e300, *_FLOATS[1:]),
    2: _FLOATS,
    3: (2**63 - 1, -(2**63), 10**9),
    4: (2**64 - 1, 10**9),
    5: _INT32,
    13: (2**32 - 1, 10**6),
    17: _INT32,
    18: (2**63 - 1, -(2**63), 10**9),
}
_MESSAGE: Final = 11
#: Messages inside of messages are looked into so deep.
_DEEPEST: Final = 4
#: How long a list of one number is, as one more extreme.
_LONG: Final = 20_000
CPU_S: Final = 20
PATIENCE_S: Final = 90


class Case(NamedTuple):
    """One option of one calculator with an extreme value."""

    #: Registered name.
    calculator: str
    #: Names of fields, from the options message inwards.
    path: tuple[str, ...]
    #: What it is set to; a list for a field of many values.
    value: Any
    #: Graph text with the node.
    wiring: str

    def __str__(self) -> str:
        value = f"{len(self.value)} x {self.value[0]}" if isinstance(self.value, list) else self.value
        return f"{self.calculator}: {'.'.join(self.path)} = {value}"


def fields_of(descriptor: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the path to each number of a message, as fields, and the field."""
    for field in descriptor.fields:
        if field.type in EXTREMES:
            yield (*path, field), field
        elif may_look_into(field, path):
            yield from fields_of(field.message_type, (*path, field))


def may_look_into(field: Any, path: tuple[Any, ...]) -> bool:
    """Return whether a field holds a message whose numbers are options too."""
    if field.type != _MESSAGE or len(path) == _DEEPEST or field.message_type.GetOptions().map_entry:
        return False
    return field.message_type not in [one.message_type for one in path]


def options_of(name: str, registry: Registry) -> list[Any]:
    """Return the classes of the options messages of a calculator, without those inside of others."""
    types = OptionTypes(registry)
    found = {}
    for one in describe(name, registry, "calculator").options:
        types.load(one.name)
        try:
            found[one.name] = types.FindMessageTypeByName(one.name)
        except KeyError:
            continue
    inside = {
        field.message_type.full_name
        for descriptor in found.values()
        for field in descriptor.fields
        if field.type == _MESSAGE
    }
    return [message_factory.GetMessageClass(one) for name, one in found.items() if name not in inside]


def given(node: Any, kind: Any) -> Any:
    """Return the options of a class that a node has, taken out of it; an empty message where it has none."""
    message = kind()
    for field, value in node.options.ListFields():
        if field.message_type is kind.DESCRIPTOR:
            message.CopyFrom(value)
    for position, packed in reversed(list(enumerate(node.node_options))):
        if packed.Is(kind.DESCRIPTOR):
            packed.Unpack(message)
            del node.node_options[position]
    return message


def cases_of(name: str, wiring: str, registry: Registry) -> Iterator[Case]:
    """Yield the cases of a calculator."""
    for kind in options_of(name, registry):
        for path, field in fields_of(kind.DESCRIPTOR):
            values: list[Any] = list(EXTREMES[field.type])
            if is_repeated(field):
                values = [[value] for value in values] + [[1] * _LONG]
            for value in values:
                node = node_named(wiring, name, registry)
                message = given(node, kind)
                put(message, path, value)
                set_options(node, message)
                text = to_text(graph_of(node), registry)
                yield Case(name, tuple(one.name for one in path), value, text)


def put(message: Any, path: tuple[Any, ...], value: Any) -> None:
    """Set a field inside of a message; lists of messages on the way get their first element."""
    for field in path[:-1]:
        inner = getattr(message, field.name)
        message = (inner[0] if len(inner) else inner.add()) if is_repeated(field) else inner
    if isinstance(value, list):
        del getattr(message, path[-1].name)[:]
        getattr(message, path[-1].name).extend(value)
    else:
        setattr(message, path[-1].name, value)


def feed(case: Case, arguments: dict[str, Any]) -> str:
    """Feed a calculator; return "" where it is well, else what is wrong."""
    refusals = arguments.pop("may_raise", ())
    allowed = (PenstockError, *(refusals if isinstance(refusals, tuple) else (refusals,)))
    try:
        check_calculator(
            case.calculator,
            **{**arguments, "wiring": case.wiring, "may_raise": allowed, "seeds": range(2), "timeout": 60},
        )
    except PenstockError:
        return ""
    except ConformanceError as error:
        is_refused = "refused all" in str(error)
        return "" if is_refused else f"it keeps no rule: {str(error)[:1500]}"
    except MemoryError:
        return "MemoryError"
    except Exception:  # noqa: BLE001  # what is looked for
        return f"untyped: {traceback.format_exc()[-1500:]}"
    return ""


def in_child(case: Case, arguments: dict[str, Any], most_mib: int) -> str:
    """Do a case in a forked process; return what is wrong."""
    end, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(end)
        said = "the child itself failed"
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30),) * 2)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                said = feed(case, arguments)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
            if not said and grown > most_mib:
                said = f"{grown} MiB"
        finally:
            os.write(theirs, said.encode(errors="replace")[:60_000])
            os._exit(0)
    os.close(theirs)
    said, status = outcome_of(pid, end)
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name} ({said[:200]})"
    return said


def outcome_of(pid: int, end: int) -> tuple[str, int]:
    """Wait for a process and what it has written; kill it where it takes too long."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done or time.monotonic() > deadline:
            break
        time.sleep(0.002)
    if not done:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    with os.fdopen(end, "rb") as file:
        return file.read().decode(errors="replace"), status


def main(words: list[str]) -> int:
    """Try the options; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="calculators whose name has this word")
    parser.add_argument("--field", default="", help="fields whose path has this word")
    parser.add_argument("--most", type=int, default=700, help="MiB that a case may take (700)")
    parser.add_argument("--part", default="0/1", help="which of how many parts of the cases, as 0/2 (0/1)")
    arguments = parser.parse_args(words)
    part, parts = map(int, arguments.part.split("/"))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    os.environ.setdefault("PENSTOCK_GPU", "prefer")
    feeds: Any = importlib.import_module("test_calculators_conform")
    registry = feeds.default_registry().child()
    findings, unfed, counted, seen = [], [], Counter[str](), set[Any]()
    for name in sorted(feeds.names()):
        cls = registry.find("calculator", name)
        if cls in seen or arguments.only not in name or name in feeds.WITHOUT_NUMPY:
            continue
        seen.add(cls)
        if feeds.entry(feeds.NOT_FED, name) is not None:
            unfed.append(name)
            continue
        make = feeds.entry(feeds.FEEDS, name)
        try:
            wiring = (make(name) if make else {}).get("wiring") or example_of(cls) or bare(name)
            wirings = [wiring] if isinstance(wiring, str) else wiring
            cases = [case for text in wirings for case in cases_of(name, text, registry)]
        except PenstockError as error:
            unfed.append(f"{name} ({error})")
            continue
        for case in cases:
            if arguments.field not in ".".join(case.path) or counted.total() % parts != part:
                counted["left out"] += 1
                continue
            counted["tried"] += 1
            if said := in_child(case, make(name) if make else {}, arguments.most):
                findings.append(f"{case}: {said}")
                print(findings[-1], flush=True)
    print(f"{counted['tried']} cases, {len(findings)} findings; not fed: {', '.join(unfed)}")
    return 1 if findings else 0


def bare(name: str) -> str:
    """Return a graph of a calculator that connects nothing: the kit finds what it needs."""
    return to_text(CalculatorGraphConfig(node=[{"calculator": name}]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

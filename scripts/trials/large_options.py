"""Gives each number in the options of each calculator its greatest and its least value, and runs the calculator.

A graph of a stranger may do that. Whatever the number is, the calculator opens, or refuses it with an error of
Penstock, and takes neither the machine's memory nor its time. Each try is a process of its own, with limits.

    python scripts/trials/large_options.py [--only NAME]
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from penstock.errors import PenstockError
from penstock.packs import official_packs
from penstock.plugins.default_registry import default_registry
from penstock_testing import ConformanceError, check_calculator

ROOT = Path(__file__).parents[2]
#: Above what is there already.
MEMORY = 600 << 20
SECONDS = 8
_NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32: (2**31 - 1, -(2**31), 100_000),
    FieldDescriptor.CPPTYPE_INT64: (2**63 - 1, -(2**63), 100_000),
    FieldDescriptor.CPPTYPE_UINT32: (2**32 - 1, 100_000),
    FieldDescriptor.CPPTYPE_UINT64: (2**64 - 1, 100_000),
    FieldDescriptor.CPPTYPE_FLOAT: (3e38, float("nan"), float("inf"), 1e-30),
    FieldDescriptor.CPPTYPE_DOUBLE: (1e308, float("nan"), float("inf"), 1e-300),
}


def conform() -> Any:
    """Return the module that says how calculators are fed."""
    spec = importlib.util.spec_from_file_location("conform", ROOT / "tests" / "test_calculators_conform.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conform"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one calculator")
    only = parser.parse_args().only
    feeds = conform()
    tried = found = 0
    for name in sorted(official_packs()["calculator"]):
        if only not in {None, name} or feeds.entry(feeds.NOT_FED, name) is not None:
            continue
        for path, value, options in mutations(name):
            tried += 1
            said = try_one(name, options, feeds)
            if said:
                found += 1
                print(f"{name} {path} = {value!r}: {said}", flush=True)
    print(f"{tried} tries, {found} findings")


def mutations(name: str) -> Any:
    """Yield each change of one number of the options of a calculator's example."""
    from penstock_testing.connections import example_of, node_named  # the kit's own

    cls = default_registry().find("calculator", name)
    try:
        node = node_named(example_of(cls) or f'node {{ calculator: "{name}" }}', name, default_registry())
    except PenstockError:
        return
    for message in options_in(node, cls):
        for path, value in numbers_of(message.DESCRIPTOR, ()):
            changed = type(message)()
            changed.CopyFrom(message)
            try:
                put(changed, path, value)
            except (ValueError, AttributeError, TypeError):
                continue
            yield ".".join(path), value, changed


def options_in(node: Any, cls: type) -> Any:
    """Yield the options messages of a node's example, or the empty one of the calculator's class."""
    found = [value for field, value in node.options.ListFields() if field.is_extension]
    yield from found


def numbers_of(descriptor: Any, before: tuple[str, ...], depth: int = 0) -> Any:
    for field in descriptor.fields:
        path = (*before, field.name)
        if field.message_type is not None:
            if depth < 2:
                yield from numbers_of(field.message_type, path, depth + 1)
            continue
        for value in _NUMBERS.get(field.cpp_type, ()):
            yield path, value


def put(message: Any, path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        inner = getattr(message, part)
        if hasattr(inner, "add"):
            message = inner[0] if len(inner) else inner.add()
        else:
            inner.SetInParent()
            message = inner
    last = getattr(message, path[-1])
    if hasattr(last, "append"):
        if len(last):
            last[0] = value
        else:
            last.append(value)
    else:
        setattr(message, path[-1], value)


def try_one(name: str, options: Any, feeds: Any) -> str:
    """Run a calculator in a process of its own; return what went wrong, or ""."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY,) * 2)
        signal.alarm(SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(write, said_by(name, options, feeds).encode()[:2000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"takes longer than {SECONDS} s" if number == signal.SIGALRM else f"dies of signal {number}"
    return said


def said_by(name: str, options: Any, feeds: Any) -> str:
    arguments = feeds.entry(feeds.FEEDS, name)
    given = arguments(name) if arguments else {}
    given["options"] = options
    given["may_raise"] = Exception
    try:
        check_calculator(name, seeds=range(2), **given)
    except ConformanceError as error:
        text = str(error)
        return next((line for line in text.splitlines() if "MemoryError" in line or "llocate" in line), "")[:300]
    except MemoryError as error:
        return f"MemoryError: {error}"
    except PenstockError as error:
        return str(error)[:200] if "llocate" in str(error) else ""
    except Exception as error:  # noqa: BLE001  # the finding
        return f"{type(error).__name__}: {error}"[:200]
    return ""


if __name__ == "__main__":
    main()

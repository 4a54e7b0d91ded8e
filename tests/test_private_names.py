"""No pack touches what is private to another distribution, and none changes a node of the engine.

Looked at is the source alone. An object comes from elsewhere, as far as that can be seen, where its name was
imported from another distribution, annotated with a class that was, or assigned from a call of such a class.
Of any other object a private attribute is refused if the core has one of that name and the pack has not.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

pytestmark = pytest.mark.heavy

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = sorted(
    path
    for place in ("plugins", "subgraphs", "contrib")
    for path in (ROOT / place).glob("*/src/*")
    if path.is_dir() and any(path.glob("*.py"))
)
#: Begin with an underscore, and are public: methods of every named tuple, and what notebooks ask for.
PUBLIC: Final = {"_asdict", "_fields", "_make", "_replace", "_repr_mimebundle_", "_repr_png_"}
#: What a pack may add to in a node: the time of calls that were made elsewhere.
MEASURED: Final = {"busy_ns"}


def is_private(name: str) -> bool:
    """Return whether a name is private: one underscore, and something behind it."""
    return name.startswith("_") and not name.startswith("__") and name != "_" and name not in PUBLIC


def trees(package: Path) -> dict[Path, ast.Module]:
    """Return the syntax trees of a package, without what protoc has written."""
    paths = [path for path in sorted(package.rglob("*.py")) if not path.stem.endswith("_pb2")]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def private_names(modules: Iterable[ast.Module]) -> set[str]:
    """Return the private names that modules define: functions, classes, attributes, variables and slots."""
    found: set[str] = set()
    for node in (node for module in modules for node in ast.walk(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
            found.update(one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant))
    return set(filter(is_private, found))


@cache
def private_in_core() -> frozenset[str]:
    """Return the private names of the core."""
    return frozenset(private_names(trees(ROOT / "core" / "src" / "penstock").values()))


class Module:
    """One module of a package: what of other distributions it imports, and what it does with it."""

    def __init__(self, tree: ast.Module, package: str) -> None:
        self._nodes: Final = list(ast.walk(tree))
        self._package: Final = package
        #: Names in it of modules, classes and functions of other distributions of this project.
        self.elsewhere: Final = {bound for bound, _ in self._imports()}
        #: Names of objects that come from there → the class, where it is known.
        self.objects: Final[dict[str, str]] = dict(self._made())

    def _is_elsewhere(self, module: str) -> bool:
        first = module.partition(".")[0]
        return first != self._package and (first == "penstock" or first.startswith("penstock_"))

    def _imports(self) -> Iterator[tuple[str, str]]:
        """Yield each name that is bound to something of another distribution, and what it is there."""
        for node in self._nodes:
            if isinstance(node, ast.ImportFrom) and not node.level and self._is_elsewhere(node.module or ""):
                for alias in node.names:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if self._is_elsewhere(alias.name):
                        yield alias.asname or alias.name.partition(".")[0], alias.name

    def _made(self) -> Iterator[tuple[str, str]]:
        """Yield the names of objects whose class another distribution has, with the class."""
        for node in self._nodes:
            if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
                name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
                for part in ast.walk(node.annotation):
                    if isinstance(part, ast.Name) and part.id in self.elsewhere:
                        yield name, part.id
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                made = node.value.func
                if isinstance(made, ast.Name) and made.id in self.elsewhere:
                    for target in node.targets:
                        yield ast.unparse(target), made.id

    def private_imports(self) -> Iterator[tuple[int, str]]:
        """Yield the place and words of each import of something private."""
        for node in self._nodes:
            names = []
            if isinstance(node, ast.ImportFrom) and not node.level and self._is_elsewhere(node.module or ""):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if self._is_elsewhere(alias.name)]
            for name in names:
                if any(map(is_private, name.split("."))):
                    yield node.lineno, f"import {name}"

    def private_accesses(self, foreign: set[str]) -> Iterator[tuple[int, str]]:
        """Yield the place and words of each access of something private.

        Args:
            foreign: private names that only another distribution has.
        """
        for node in self._nodes:
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                name, of = node.attr, ast.unparse(node.value)
            elif (named := _named_attribute(node)) and is_private(named[1]):
                name, of = named[1], named[0]
            else:
                continue
            if name in foreign or of in self.objects or of.partition(".")[0] in self.elsewhere:
                yield node.lineno, f"{of}.{name}"

    def changed_nodes(self) -> Iterator[tuple[int, str]]:
        """Yield the place and words of each assignment to an attribute of a node of the engine."""
        for node in self._nodes:
            if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
                continue
            of = ast.unparse(node.value)
            is_node = self.objects.get(of) == "Node" or of.endswith((".node", "._node"))
            if is_node and node.attr not in MEASURED:
                yield node.lineno, f"{of}.{node.attr} = ..."


def _named_attribute(node: ast.AST) -> tuple[str, str] | None:
    """Return object and attribute of a `getattr`, `setattr` or `hasattr` whose name is written out."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1):
        return None
    name = node.args[1]
    if node.func.id not in {"getattr", "setattr", "delattr", "hasattr"} or not isinstance(name, ast.Constant):
        return None
    return ast.unparse(node.args[0]), str(name.value)


def faults(package: Path) -> list[str]:
    """Return what a package does with private names of other distributions, and with nodes."""
    modules = trees(package)
    foreign = set(private_in_core() - private_names(modules.values()))
    found = []
    for path, tree in modules.items():
        module = Module(tree, package.name)
        for line, words in (
            *module.private_imports(),
            *module.private_accesses(foreign),
            *module.changed_nodes(),
        ):
            found.append(f"{path.relative_to(package.parent)}:{line}: {words}")
    return sorted(found)


def test_no_pack_touches_what_is_private_to_another_distribution_or_changes_a_node() -> None:
    assert len(PACKAGES) > 25
    assert [fault for package in PACKAGES for fault in faults(package)] == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("from penstock.runtime.graph import _call_hooks", "import penstock.runtime.graph._call_hooks"),
        ("import penstock._inner", "import penstock._inner"),
        ("from penstock_remote.pending import _Copy", "import penstock_remote.pending._Copy"),
        ("import penstock\npenstock._HOMES", "penstock._HOMES"),
        ("from penstock import Packet\nPacket._own", "Packet._own"),
        ("from penstock import Packet\ndef f(p: Packet | None):\n    p._own = 1", "p._own"),
        ("from penstock import Packet\np = Packet(1)\np._own", "p._own"),
        ("from penstock import Packet\np = Packet(1)\ngetattr(p, '_own')", "p._own"),
        ("def f(graph):\n    graph._runs", "graph._runs"),
        ("class A(Executor):\n    def f(self):\n        self._runs", "self._runs"),
        ("def f(graph):\n    setattr(graph, '_runs', 1)", "graph._runs"),
        ("from penstock.lowlevel import Node\ndef f(n: Node):\n    n.open = f", "n.open = ..."),
        ("def f(step):\n    step.node.state = 3", "step.node.state = ..."),
        ("def f(step):\n    del step.node.relay", "step.node.relay = ..."),
        ("def f(self, a):\n    self._node = a\n    self._node.slowness += 1", "self._node.slowness = ..."),
    ],
)
def test_each_way_to_touch_something_private_is_found(tmp_path, source, fault) -> None:
    package = tmp_path / "penstock_sample"
    package.mkdir()
    (package / "sample.py").write_text(source, encoding="utf-8")
    assert [one.split(": ", 1)[1] for one in faults(package)] == [fault]


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def f(self, other):\n        self._runs = other._runs",
        "class A:\n    __slots__ = ('_runs',)\n    def f(self, other):\n        other._runs",
        "from penstock_sample.other import _mine\n_mine._its",
        "from penstock.lowlevel import NodePlan\ndef f(plan: NodePlan):\n    plan._replace(name='')",
        "import sys\nsys._getframe(1)",
        "def f(step):\n    step.node.busy_ns += 1",
        "def f(step):\n    step.words = step.node.name",
    ],
)
def test_what_is_a_packages_own_or_public_is_not_refused(tmp_path, source) -> None:
    package = tmp_path / "penstock_sample"
    package.mkdir()
    (package / "sample.py").write_text(source, encoding="utf-8")
    assert faults(package) == []

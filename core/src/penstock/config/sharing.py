"""Plans that are kept for equal graphs: a server loads the same graph for each of its clients.

A graph is equal to one before it if its text, the files that it is read from, the registry with all that it
has, and the limits are the same. Then reading, expanding and wiring it would give the same, except for the
answers of calculators. So these are asked again, for each node of each graph: its `Options` classes check the
options, `get_contract` fills in a new contract, and the things that it touches must be allowed now. Where all
contracts say the same as the contracts of the kept plan, the graph gets that plan with its own contracts,
options and config; where one does not, or anything is wrong, the graph is loaded as if nothing were kept.

A plan is kept when its graph is loaded for the second time: most programs load each graph once, and to keep
a plan takes a sixth of the time of loading it.

What is not kept: graphs that something was logged about; with failure policies; with subgraphs that are no
files; with `subgraphs` of their own; of more than a quarter of `_MOST_BYTES`. Nothing that a graph can change
is shared: what two graphs have in common are ports, streams and numbers, which never change.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from penstock import limits
from penstock.check.asking import ask_contract, ask_leading
from penstock.config.options.option_types import OptionTypes
from penstock.config.reading.files import bytes_of, is_path
from penstock.config.reading.plain_graph import PlainGraph
from penstock.errors import PenstockError
from penstock.record import NamedTuple
from penstock.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from pathlib import Path

    from penstock.config.options.options import Options
    from penstock.contract import CalculatorContract, PortSpec, PortSpecs
    from penstock.plan import HandlerPlan, NodePlan, Plan

#: Whether plans are kept; see `penstock.runtime.build.TAKES_SHORT_CUTS`.
SHARES: Final = os.environ.get("PENSTOCK_SHORTCUTS") != "0"
#: What the plans of one registry may take together, by estimate; the one used longest ago goes first.
_MOST_BYTES: Final = 16 * 2**20
#: What a node takes in a plan, measured with pass-through nodes, beside its part of the message.
_BYTES_OF_NODE: Final = 4096
#: Of so many graphs it is noted that they were loaded, before that is forgotten.
_MOST_NOTED: Final = 10_000
_KEEPER: Final = "plans"
#: A destructor may load a graph at any point, also where this thread has the lock.
_LOCK: Final = threading.RLock()
if hasattr(os, "register_at_fork"):  # another thread may have it when the process is forked
    os.register_at_fork(after_in_child=_LOCK._at_fork_reinit)  # type: ignore[attr-defined]  # noqa: SLF001


class _Kept(NamedTuple):
    """A plan whose contracts, options and config nobody else has."""

    plan: Plan
    #: What the contract of each node said.
    said: Sequence[object]
    #: The files that the graph was read from.
    files: Sequence[tuple[Path, bytes]]
    bytes: int


class _Shelf:
    """The plans of one registry, those used last at the end. Its methods are called under the lock."""

    def __init__(self) -> None:
        self._changes = -1
        #: Hashes of the keys of graphs that were loaded: of equal ones one plan is kept too early, no more.
        self._noted: set[int] = set()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._bytes = 0

    def find(self, key: Hashable, changes: int) -> _Kept | None:
        self._follow(changes)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def was_noted(self, key: Hashable, changes: int) -> bool:
        """Note that a graph is loaded; return whether an equal one was loaded before."""
        self._follow(changes)
        number = hash(key)
        if number in self._noted:
            return True
        if len(self._noted) >= _MOST_NOTED:
            self._noted.clear()
        self._noted.add(number)
        return False

    def put(self, key: Hashable, changes: int, kept: _Kept) -> None:
        self._follow(changes)
        old = self._kept.pop(key, None)
        self._bytes += kept.bytes - (0 if old is None else old.bytes)
        self._kept[key] = kept
        while self._bytes > _MOST_BYTES:
            self._bytes -= self._kept.popitem(last=False)[1].bytes

    def _follow(self, changes: int) -> None:
        """Forget everything if the registry has changed."""
        if changes != self._changes:
            self._changes = changes
            self._noted.clear()
            self._kept.clear()
            self._bytes = 0


class Place:
    """Where the plan of one graph is kept."""

    def __init__(self, registry: Registry, key: Hashable) -> None:
        self._registry: Final = registry
        self._key: Final = (key, limits.current())
        self._changes: Final = registry.changes

    def find(self) -> Plan | None:
        """Return the plan of an equal graph, for one more graph; None where there is none."""
        with _LOCK:
            shelf = self._registry.kept.get(_KEEPER)
            kept = None if shelf is None else shelf.find(self._key, self._changes)
        if kept is None:
            return None
        if not all(_is_still(path, data) for path, data in kept.files):
            return None
        return _again(kept, self._registry)

    def keep(self, plan: Plan, files: Sequence[tuple[Path, bytes]]) -> None:
        """Keep the plan of a graph that is loaded for the second time.

        It is not kept if it is too large, or if the registry has changed while the graph was loaded.
        """
        with _LOCK:
            shelf = self._registry.kept.setdefault(_KEEPER, _Shelf())
            if not shelf.was_noted(self._key, self._changes):
                return
        size = len(plan.nodes) * _BYTES_OF_NODE + _size_of(plan.fields)
        size += sum(len(data) for _, data in files) + len(self._key[0][1])  # type: ignore[index]  # see `place`
        if size > _MOST_BYTES // 4 or self._registry.changes != self._changes:
            return
        said = [_said(node.contract) for node in plan.nodes]
        nodes = tuple(
            [_renewed(node, node.contract.again(None), node.options.again()) for node in plan.nodes]
        )
        kept = _Kept(_with_nodes(plan, nodes), said, tuple(files), size)
        with _LOCK:
            shelf.put(self._key, self._changes, kept)


def place(graph_config: object, binary_graph_path: object, registry: Registry) -> Place | None:
    """Return where the plan of a graph is kept; None for graphs of which it never is."""
    if not SHARES or type(registry) is not Registry:
        return None
    if graph_config is None:
        return Place(registry, ("binary", str(binary_graph_path)))
    if binary_graph_path is not None:
        return None
    if type(graph_config) is str:
        return Place(registry, ("text", graph_config))
    if is_path(graph_config) and type(graph_config).__module__.partition(".")[0] == "pathlib":
        return Place(registry, ("file", str(graph_config)))
    return None


def _is_still(path: Path, data: bytes) -> bool:
    try:
        return bytes_of(path) == data
    except PenstockError:  # the reader will find it again, and say it with its place
        return False


def _again(kept: _Kept, registry: Registry) -> Plan | None:
    """Return a plan for one more graph; None where its contracts say otherwise, or something is wrong."""
    nodes = []
    for node, said in zip(kept.plan.nodes, kept.said, strict=True):
        options = node.options.again()
        contract = node.contract.again(options)
        if not _fills_in(node, contract, options) or _said(contract) != said:
            return None
        new = _renewed(node, contract, options)
        if ask_leading(new.handler, new.inputs) is not None:
            return None
        nodes.append(new)
    return _with_nodes(kept.plan, tuple(nodes))._replace(option_types=OptionTypes(registry))


def _with_nodes(plan: Plan, nodes: tuple[NodePlan, ...]) -> Plan:
    """Return an equal plan with other nodes, and without types of options."""
    config = plan.fields
    if isinstance(config, PlainGraph):
        config = config.again()
    else:
        config = type(config)()
        config.CopyFrom(plan.fields)
    return plan._replace(
        nodes=nodes,
        executors=tuple([one._replace(options=one.options.again()) for one in plan.executors]),
        config=config,
        stream_ids=dict(plan.stream_ids),
        option_types=None,
    )


def _size_of(config: Any) -> int:
    """Return how many bytes a config takes, by estimate; the text of a plain graph is a part of its key."""
    return 0 if isinstance(config, PlainGraph) else len(config.SerializePartialToString())


def _renewed(node: NodePlan, contract: CalculatorContract, options: Options) -> NodePlan:
    handler: HandlerPlan = node.handler
    own = handler.options.again()
    if own is not handler.options:
        handler = handler._replace(options=own)
    return node._replace(contract=contract, options=options, handler=handler)


def _fills_in(node: NodePlan, contract: CalculatorContract, options: Options) -> bool:
    """Let the calculator fill in a contract, as the checks do; return whether nothing is wrong."""
    try:
        return next(ask_contract(node.factory, options, contract), None) is None
    except Exception:  # noqa: BLE001  # the checks will find it again, and say it with its place
        return False


def _said(contract: CalculatorContract) -> object:
    """Return what a contract says about the wiring of a graph: what other nodes, and the checks, look at."""
    ports = contract.ports()
    handler = contract.input_stream_handler
    said: list[object] = [None if handler is None else (handler.name, handler.options is None)]
    for specs in ports:
        if specs.items:
            said.append([(one.types, one.is_optional, _where(one, ports)) for one in specs.items])
        if specs.unconnected:
            left = specs.unconnected.items()
            said.append([(*at, one.is_optional, one.is_declared()) for at, one in left])
    return said


def _where(port: PortSpec, ports: tuple[PortSpecs, ...]) -> object:
    """Return which port of a node another one has its type from; None where that is its own."""
    if port.same_as is None:
        return None
    root = port.root()
    for kind, specs in enumerate(ports):
        for number, spec in enumerate(specs.items):
            if spec is root:
                return kind, number
    return root.types  # of a port that is not connected

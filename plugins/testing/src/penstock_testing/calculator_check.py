"""`check_calculator`: random legal packets in many orders show whether a calculator keeps the rules.

`check_calculator` puts a calculator between graph inputs and sinks, in every wiring that its contract
allows, and runs each feed several times: in the order of one thread, and in others. The error of a run that
breaks a rule has its seed and lines to paste.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import attrs

from penstock import Timestamp
from penstock.config import build_plan, to_text
from penstock.error_text import shown
from penstock.errors import InternalError, InvalidArgumentError, StatusCode
from penstock.explain import story
from penstock.packs import calculator_of_entry
from penstock.ports import parse_tag_index, port_id
from penstock_testing.connections import SINK, Sink, example_of, graph_of, legal_wirings, node_named
from penstock_testing.drives import Drive, Run, call_on_a_thread, spied
from penstock_testing.feeds import PACKET, make_feed
from penstock_testing.payloads import fits, maker_of, same
from penstock_testing.registry import testing_registry
from penstock_testing.run import as_message, set_options
from penstock_testing.schedules import ScheduleHarness
from penstock_testing.switches import WANTED
from penstock_testing.touching import touched

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock import Calculator, Registry, ServiceKey
    from penstock.errors import PenstockError
    from penstock.lowlevel import Plan
    from penstock.ports import PortKey, PortSpecs
    from penstock_testing.feeds import Event
    from penstock_testing.payloads import Maker, Makers

#: Seeds of the orders besides that of one thread, for each feed.
_ORDERS: Final = 2
#: How many calls may overlap of a calculator whose contract says that it is stateless.
_IN_FLIGHT: Final = 3


class ConformanceError(AssertionError):
    """A calculator breaks a rule that every calculator must keep; the message has lines to repeat it."""


@attrs.frozen
class CalculatorConformance:
    """What was tried, for tests that check how much was tried."""

    #: The nodes, as graph text.
    wirings: tuple[str, ...]
    #: Number of runs.
    runs: int
    #: How many of these were refused: those that ended with an error that `may_raise` allows.
    refused: int
    #: Packets that were fed, over all runs.
    packets_in: int
    #: Packets that the calculator wrote, over all runs.
    packets_out: int


def check_calculator(  # noqa: PLR0913  # each is one thing that a calculator may need
    calculator: type[Calculator] | str,
    *,
    wiring: str | Sequence[str] = (),
    options: object = None,
    side_packets: Mapping[PortKey, object] | None = None,
    headers: Mapping[PortKey, object] | None = None,
    payloads: Makers | None = None,
    prestream: Iterable[PortKey] = (),
    ends_of_time: bool = True,
    services: Mapping[ServiceKey[Any], object] | None = None,
    may_raise: type[Exception] | tuple[type[Exception], ...] = (),
    depends_on_arrival: bool | None = None,
    seeds: Iterable[int] | None = None,
    registry: Registry | None = None,
    timeout: float = 60.0,
) -> CalculatorConformance:
    """Feed a calculator random legal packets under many orders, and raise if it breaks a rule.

    The rules: each run ends once its inputs have ended, and soon after a cancel; `open` comes first,
    `close` last, and once where `open` has succeeded; outputs are of their declared types, elements of
    lists included, in order, and not behind the promised offset; input payloads are not changed; the
    ledger adds up after each event; outputs do not depend on the order of steps or of arrival, where the
    input policy promises that, nor on `max_in_flight`, where the contract says `stateless`; files, addresses
    and programs that Python code touches are declared (`cc.declare(reads=...)`). A node that
    runs on bounds (`set_process_timestamp_bounds`) may be called once for several bounds, so of such a
    node only the outputs at timestamps with an input packet are compared.

    The results of async methods, and Futures, are waited for.

    Args:
        calculator: the class, or what `@penstock.calculator` has decorated; or a registered name.
        wiring: graph text with a node of the calculator, or several of these; by default the example in
            which its docstring ends, and what its contract asks for. Each also grows: optional ports and
            further ports of a tag are connected as far as the contract takes them.
        options: an options message or an instance of an attrs class, for all wirings.
        side_packets: port → payload; random ones are made for the others.
        headers: input port → payload of its stream's header.
        payloads: a type, or a port ("TAG", `"TAG:1"`, an index) → a function of a `random.Random` and a
            timestamp that makes a payload; see `penstock_testing.payloads`. `object` stands for ports that
            take any type; they get ints otherwise.
        prestream: input ports that take one packet, at PRESTREAM.
        ends_of_time: whether `Timestamp.MIN` and `MAX` are among the timestamps; False for calculators that
            write something for each moment between two packets.
        services: key → object; services that their keys can make are made for each run.
        may_raise: errors with which the calculator refuses inputs, as it documents.
        depends_on_arrival: whether outputs may differ between orders; None asks the input policy. False
            compares all outputs also where the node runs on bounds.
        seeds: of the feeds; None for 24, or as many as `--penstock-orders` of pytest says. Each is run
            several times, with one of the wirings in turn.
        registry: for names; None for the default one.
        timeout: seconds after which one run counts as hanging inside the calculator. Its thread is abandoned.

    Raises:
        ConformanceError: a rule is broken; has seed, events and lines to paste. Or no rule could be checked,
            because every run was refused.
        GraphConfigError: no wiring loads.
        InvalidArgumentError: `calculator` is no calculator; says what to do.
        NotFoundError: no maker is known for a declared type.
    """
    own = (registry if registry is not None else _installed()).child()
    name, cls = _registered(calculator, own)
    own.add("calculator", SINK, Sink)
    texts = [wiring] if isinstance(wiring, str) else list(wiring)
    nodes: list[Any] = []
    for text in texts or [example_of(cls) or f'node {{ calculator: "{name}" }}']:
        node = node_named(text, name, own)
        if options is not None:
            set_options(node, as_message(options, own))
        nodes += [one for one in legal_wirings(cls, node, own) if one not in nodes]
    given = _Given(
        name,
        repr(name) if isinstance(calculator, str) else name,
        payloads or {},
        dict(side_packets or {}),
        {_port(key): header for key, header in (headers or {}).items()},
        {_port(key) for key in prestream},
        ends_of_time,
        services or {},
        may_raise,
        depends_on_arrival,
        timeout,
    )
    subjects = [_Subject(given, node, own) for node in nodes]
    tally = _Tally()
    for position, seed in enumerate(range(WANTED.count) if seeds is None else seeds):
        subjects[position % len(subjects)].check(seed, tally)
    if tally.runs and tally.refused == tally.runs:
        raise ConformanceError(
            f"check_calculator: {name} refused all {tally.runs} feeds, so that nothing is shown; pass "
            f"payloads={{...}} that it takes. The last error: {tally.refusal}"
        )
    texts = [to_text(node, own) for node in nodes]
    return CalculatorConformance(tuple(texts), tally.runs, tally.refused, tally.packets_in, tally.packets_out)


@attrs.frozen(eq=False)
class _Given:
    """The caller's arguments, for all wirings; `who` is the calculator as the caller names it."""

    name: str
    who: str
    payloads: Makers
    side_packets: dict[PortKey, object]
    headers: dict[tuple[str, int], object]
    prestream: set[tuple[str, int]]
    ends_of_time: bool
    services: Mapping[ServiceKey[Any], object]
    may_raise: type[Exception] | tuple[type[Exception], ...]
    depends_on_arrival: bool | None
    timeout: float


@attrs.define
class _Tally:
    runs: int = 0
    refused: int = 0
    packets_in: int = 0
    packets_out: int = 0
    refusal: str = ""


class _Subject:
    """A calculator in one of its wirings."""

    def __init__(self, given: _Given, node: Any, registry: Registry) -> None:
        self._given: Final = given
        self._text: Final = to_text(graph_of(node), registry)
        self._plan: Final[Plan] = build_plan(graph_of(node), registry)
        self._node: Final = next(one for one in self._plan.nodes if one.calculator == given.name)
        self._name_of: Final = [stream.name for stream in self._plan.streams]
        contract, makers = self._node.contract, given.payloads
        ports = [self._name_of[port.stream] for port in self._node.inputs]
        self._inputs: Final = dict(zip(ports, _makers(contract.inputs, makers, {}), strict=True))
        self._prestream: Final = {
            spec.name for spec in contract.inputs if (spec.tag, spec.index) in given.prestream
        }
        self._headers: Final = {
            spec.name: given.headers[spec.tag, spec.index]
            for spec in contract.inputs
            if (spec.tag, spec.index) in given.headers
        }
        self._fixed: Final = {_port(key): value for key, value in given.side_packets.items()}
        sides = contract.input_side_packets
        self._sides: Final = list(zip(sides, _makers(sides, makers, self._fixed), strict=True))
        self._may_overlap: Final = bool(contract.declared.stateless) and not self._node.is_source
        outputs = [self._name_of[port.stream] for port in self._node.outputs]
        self._outputs: Final = dict(zip(outputs, contract.outputs, strict=True))

    # --- runs ---------------------------------------------------------------------------------

    def check(self, seed: int, tally: _Tally) -> None:
        """Run one feed in several orders, and once with a cancel, and check all rules."""
        feed = self._feed(seed)
        base: Run | None = None
        for number, order in enumerate((None, *(seed * _ORDERS + i + 1 for i in range(_ORDERS)))):
            run = self._run(seed, feed, order, overlaps=number == _ORDERS and self._may_overlap)
            self._check_run(run, seed, feed)
            tally.runs += 1
            tally.packets_in += run.fed
            tally.packets_out += sum(len(seen) - 1 for seen in run.seen.values() if seen)
            if run.error is not None:
                tally.refused += 1
                tally.refusal = str(run.error)
            if base is None:
                base = run
            elif not self._may_differ():
                self._compare(base, run, seed, feed)
        self._check_run(self._run(seed, feed, seed, cancels=True), seed, feed)

    def _run(
        self,
        seed: int,
        feed: Mapping[str, list[Event]],
        order: int | None,
        *,
        cancels: bool = False,
        overlaps: bool = False,
    ) -> Run:
        """Do one run to its end, on a thread that can be abandoned.

        Where calls overlap, each has a context and ports of its own.
        """
        seen: dict[str, list[tuple[Any, Any]]] = {name: [] for name in self._outputs}
        calls: list[tuple[str, bool]] = []
        nodes = tuple(
            one._replace(
                factory=spied(one.factory, calls), max_in_flight=_IN_FLIGHT if overlaps else one.max_in_flight
            )
            if one is self._node
            else one
            for one in self._plan.nodes
        )
        harness = ScheduleHarness(
            self._plan._replace(nodes=nodes),
            seed=order,
            side_packets={**self._side_packets(seed), **{f"seen_{name}": seen[name] for name in seen}},
            services=self._given.services,
            observe=None if order is None or order % 2 else (),
        )
        run = Run(harness, order, calls, seen, self._headers, overlaps=overlaps)
        drive = Drive(run, feed, None if order is None else random.Random(order), cancels=cancels)  # noqa: S311
        try:
            with touched() as found:
                hangs = call_on_a_thread(drive.to_the_end, self._given.timeout)
        except InternalError as error:
            self._fail(str(error), run, seed, error)
        else:
            if hangs is not None:
                self._fail(f"a call does not return after {self._given.timeout} s\n{hangs}", run, seed)
            self._check_touches(found, run, seed)
        return run

    def _check_touches(self, found: list[tuple[str, str]], run: Run, seed: int) -> None:
        """Refuse kinds of touches that are not declared."""
        declared = {touch.kind for touch in self._node.contract.declared.touches or ()}
        for kind, what in found:
            if kind not in declared:
                self._fail(
                    f"it {kind} {what!r}, but its contract does not declare that: cc.declare({kind}=[...]) "
                    "in get_contract(), and cc.service(penstock.access.ACCESS) to do it",
                    run,
                    seed,
                )

    def _feed(self, seed: int) -> dict[str, list[Event]]:
        return make_feed(seed, self._inputs, self._prestream, ends_of_time=self._given.ends_of_time)

    def _side_packets(self, seed: int) -> dict[str, object]:
        """Return the side packets of a seed; every third seed leaves out optional ones that are not given."""
        order = random.Random(seed)  # noqa: S311  # a test's choice
        made: dict[str, object] = {}
        for spec, maker in self._sides:
            payload = maker(order, Timestamp(0))
            if (spec.tag, spec.index) in self._fixed or not (spec.is_optional and seed % 3 == 2):  # noqa: PLR2004
                made[spec.name] = payload
        return made

    # --- rules --------------------------------------------------------------------------------

    def _check_run(self, run: Run, seed: int, feed: Mapping[str, list[Event]]) -> None:
        harness = run.harness
        if not harness.is_over:
            self._fail(f"the run does not end\n{story(harness.schedule)}", run, seed)
        for error in harness.errors:
            if not self._is_allowed(error, run):
                self._fail(f"the run failed: {error}", run, seed, error)
        self._check_calls(run, seed)
        for name, spec in self._outputs.items():
            types = spec.root().types
            for stamp, payload in run.seen[name][1:]:
                if not fits(payload, types):
                    self._fail(
                        f"output {name!r} carried {payload!r} at {stamp}, but the contract declares "
                        f"{spec.type_name()}",
                        run,
                        seed,
                    )
        self._check_unchanged(run, seed, feed)

    def _check_calls(self, run: Run, seed: int) -> None:
        methods = [method for method, _ in run.calls]
        expected = ["process"] * methods.count("process")
        if run.did_open:
            expected = ["open", *expected, "close"]
        elif methods:
            expected = ["open"]
        if methods != expected:
            self._fail(f"its methods were called in this order: {', '.join(methods)}", run, seed)

    def _check_unchanged(self, run: Run, seed: int, feed: Mapping[str, list[Event]]) -> None:
        for (name, events), again in zip(feed.items(), self._feed(seed).values(), strict=True):
            for event, fresh in zip(events, again, strict=True):
                if not same(event.payload, fresh.payload):
                    self._fail(
                        f"a payload of input {name!r} was changed: at {event.at} it is {event.payload!r}, "
                        f"but {fresh.payload!r} was fed (or its maker looks at more than its arguments)",
                        run,
                        seed,
                    )

    def _compare(self, base: Run, run: Run, seed: int, feed: Mapping[str, list[Event]]) -> None:
        if (base.error is None) != (run.error is None):
            self._fail(
                f"what it refuses depends on the order{_overlap(run)}: on one thread "
                f"{base.error or 'nothing'}, now {run.error or 'nothing'}",
                run,
                seed,
            )
        if base.error is not None:
            return
        is_cut = base.is_cut or run.is_cut
        fed = {int(event.at) for events in feed.values() for event in events if event.kind == PACKET}
        runs_on_bounds = run.harness.node(self._node.name).policy.process_bounds
        looks_at_all = self._given.depends_on_arrival is False or not runs_on_bounds
        for name, expected in base.seen.items():
            found = run.seen[name]
            at_fed = [[one for one in seen if one[0] in {"header", *fed}] for seen in (expected, found)]
            agree_at_fed = _agree(*at_fed, is_cut=is_cut)
            if agree_at_fed and not (looks_at_all and not _agree(expected, found, is_cut=is_cut)):
                continue
            self._fail(
                f"output {name!r} depends on the order{_overlap(run)}: on one thread it carried\n"
                f"  {expected}\nand now\n  {found}\n(they differ at timestamps "
                f"with{'out' if agree_at_fed else ''} input packets; if that is so by design, document it "
                "and pass depends_on_arrival=True)",
                run,
                seed,
            )

    def _may_differ(self) -> bool:
        if self._given.depends_on_arrival is not None:
            return self._given.depends_on_arrival
        return bool(getattr(self._node.handler.factory, "depends_on_arrival", False))

    def _is_allowed(self, error: PenstockError, run: Run) -> bool:
        if run.is_cancelled and error.code == StatusCode.CANCELLED:
            return True
        return isinstance(error, self._given.may_raise) or isinstance(error.__cause__, self._given.may_raise)

    def _fail(self, why: str, run: Run, seed: int, cause: BaseException | None = None) -> NoReturn:
        lines = "\n".join(run.lines)
        given = self._given
        raise ConformanceError(
            f"{given.name}: {why}\n\nagain, with the other arguments as they were:\n"
            f"check_calculator({given.who}, seeds=[{seed}], wiring='''\n{self._text}''')\n\n"
            f"or step by step:\nharness = ScheduleHarness(plan, seed={run.order})\n{lines}"
        ) from cause


def _registered(calculator: type[Calculator] | str, registry: Registry) -> tuple[str, type[Calculator]]:
    if isinstance(calculator, str):
        return calculator, cast("type[Calculator]", registry.find("calculator", calculator))
    cls: Any = calculator_of_entry(calculator)  # of what @penstock.calculator has decorated
    if not isinstance(cls, type) or not hasattr(cls, "get_contract"):
        raise _no_calculator(calculator)
    registry.add("calculator", cls.__name__, cls)
    return cls.__name__, cls


def _agree(expected: Sequence[Any], found: Sequence[Any], *, is_cut: bool) -> bool:
    """Return whether two runs carried the same; of runs that were cut short, as far as both came."""
    return (is_cut or len(expected) == len(found)) and all(
        one[0] == other[0] and same(one[1], other[1]) for one, other in zip(expected, found, strict=False)
    )


def _overlap(run: Run) -> str:
    """Return the words about a run whose calls may overlap."""
    if not run.overlaps:
        return ""
    return (
        f", with max_in_flight: {_IN_FLIGHT} in the graph, which the contract allows by stateless=True (each "
        "call has a context and ports of its own: do not keep those of open)"
    )


def _no_calculator(thing: object) -> InvalidArgumentError:
    cure = "pass the class of a calculator, or a registered name"
    if hasattr(thing, "get_contract"):
        cure = "pass its class, not an instance"
    elif isinstance(thing, type):
        cure = "let it subclass penstock.Calculator, or decorate it with @penstock.calculator"
    elif callable(thing):
        cure = "decorate the function with @penstock.calculator"
    name = getattr(thing, "__name__", None)
    return InvalidArgumentError(
        f"check_calculator: {shown(thing) if name is None else repr(name)} is no calculator; {cure}"
    )


def _installed() -> Registry:
    """Return what is installed, completed so that graphs load where no pack is."""
    from penstock.packs import default_registry  # loads the plugins

    registry = default_registry()
    bare = testing_registry()
    if registry.has("input stream handler", "DefaultInputStreamHandler"):
        return registry
    registry = registry.child()
    for kind in ("input stream handler", "executor"):
        for name in bare.names(kind):
            registry.add(kind, name, bare.find(kind, name))
    return registry


def _makers(specs: PortSpecs, makers: Makers, fixed: Mapping[tuple[str, int], object]) -> list[Maker]:
    """Return a maker for each connected port: a fixed one, the port's own, or one for its types."""
    of_ports: dict[tuple[str, int], Maker] = {}
    of_types: dict[Any, Maker] = {}
    for key, maker in makers.items():
        if isinstance(key, (str, int, tuple)):
            of_ports[_port(key)] = maker
        else:
            of_types[key] = maker
    of_ports.update({port: _always(payload) for port, payload in fixed.items()})
    return [of_ports.get((spec.tag, spec.index)) or maker_of(spec.root().types, of_types) for spec in specs]


def _always(payload: object) -> Maker:
    return lambda random, at: payload  # noqa: ARG005


def _port(key: PortKey) -> tuple[str, int]:
    return parse_tag_index(key) if isinstance(key, str) else port_id(key)

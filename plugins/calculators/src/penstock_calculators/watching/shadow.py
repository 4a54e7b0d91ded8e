"""Shadow: a candidate runs beside a calculator, and differences between their outputs are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.config import CalculatorGraphConfig
from penstock.errors import InvalidArgumentError
from penstock.types import message_class
from penstock_calculators.messages.flow_limiter_pb2 import FlowLimiterCalculatorOptions
from penstock_calculators.messages.shadow_pb2 import ShadowOptions
from penstock_calculators.watching.shadow_diff import ShadowDiffCalculatorOptions

if TYPE_CHECKING:
    from penstock import SubgraphContext
    from penstock.ports import TaggedPort

_DIFF: Final = "DIFF"


class Shadow(penstock.Subgraph):
    """Runs a candidate beside a calculator on the same packets, and tells what differs.

    The Shadow has the ports of `primary`, whose results are its outputs, and one more: DIFF (list of
    `penstock_calculators.watching.shadow_diff.ShadowDifference`), which has a packet at each timestamp where
    the candidate wrote something else, and otherwise a bound. The results of the candidate go nowhere else::

        in         1     2     3     4     5
        primary    a     b     c     d     e
        candidate  a     B     .     d     !       3 was left out, since it was still at 2; 5 failed
        out        a     b     c     d     e
        DIFF       .     ['b' and 'B']  .  .  ['the candidate failed: ...']

    The candidate cannot hold up the primary or end the run: packets that come while it is behind are left out
    for it, no queue fills, and an input set whose call fails is skipped (failure policy SKIP). It runs, and
    is compared, on the executor that `executor` names and the graph declares: a
    `LowPriorityThreadPoolExecutor` gives way to the rest. What computes in Python takes the interpreter's
    lock at any priority. Three things remain the graph's: a candidate whose `open` fails ends the run before
    its first packet, as any node does; one whose call never returns holds up the end of the run; and
    `max_queue_size` must be above `max_in_flight`.

    Payloads are compared as `penstock diff` does it. Where the primary wrote a packet and the candidate did
    not, or the other way round, that is a difference. Counters of the node `<name>__ShadowDiffCalculator`:
    `compared`, `differing`, `failed`. The ledger has the packets that were left out as "limiter full
    (max_in_queue)" of `<name>__FlowLimiterCalculator`, and the skipped ones at the candidate.

    Which packets the candidate gets depends on when they arrive, by design; the outputs do not. Which inputs
    follow the first one, input 0 in the order of the graph, is said at FlowLimiterCalculator.

    Options: `primary` and `candidate` (nodes with `calculator` and options; they name no streams); `executor`
    (required); `tolerance` (0), how much numbers may differ; `max_in_flight` (1), how many input sets the
    candidate may be behind; `in_flight_timeout` (10000000), after so many microseconds of the streams' time
    an input set that the candidate has not settled is given up. A candidate that is a subgraph runs on the
    executors that its nodes name. It is a subgraph of Penstock's own, and needs penstock-failures.

    Example config::

        executor { name: "shadow" type: "LowPriorityThreadPoolExecutor" }
        node {
          calculator: "Shadow"
          input_stream: "frames"
          output_stream: "shown"
          output_stream: "DIFF:differences"
          node_options {
            [type.googleapis.com/penstock.ShadowOptions] {
              primary { calculator: "PassThroughCalculator" }
              candidate { calculator: "BypassCalculator" }
              executor: "shadow"
            }
          }
        }
    """

    Options = ShadowOptions

    @classmethod
    def get_config(cls, sc: SubgraphContext) -> object:
        """Return both calculators, the limiter before the candidate, and the comparison.

        Raises:
            InvalidArgumentError: `primary`, `candidate` or `executor` is missing, `max_in_flight` is below 1,
                or there is no input, or no output to compare.
        """
        options = sc.options(ShadowOptions)
        inputs = [(port, f"in_{i}") for i, port in enumerate(sc.inputs)]
        outputs = [(port, f"out_{i}") for i, port in enumerate(_compared(sc))]
        _check(options, inputs, outputs)
        graph: Any = CalculatorGraphConfig()
        for field, ports in (("input_stream", inputs), ("output_stream", outputs)):
            getattr(graph, field).extend(_written(port, name) for port, name in ports)
        if (_DIFF, 0) in ((port.tag, port.index) for port in sc.outputs):
            graph.output_stream.append(f"{_DIFF}:differences")
        primary = graph.node.add()
        primary.CopyFrom(options.primary)
        _connect(primary, inputs, outputs)
        _connect_sides(graph, sc, primary)
        graph.node.append(_limiter(options, len(inputs)))
        candidate = graph.node.add()
        candidate.CopyFrom(options.candidate)
        _connect(candidate, inputs, outputs, "candidate_")
        candidate.input_side_packet.extend(primary.input_side_packet)
        candidate.executor = candidate.executor or options.executor
        if not candidate.HasField("failure"):
            candidate.failure.on_error = candidate.failure.SKIP
            candidate.failure.error_stream = "failures"
        _add_comparison(graph, options, len(outputs), candidate.failure.error_stream)
        return graph


def _compared(sc: SubgraphContext) -> list[TaggedPort]:
    return [port for port in sc.outputs if (port.tag, port.index) != (_DIFF, 0)]


def _check(options: ShadowOptions, inputs: list[Any], outputs: list[Any]) -> None:
    for field in ("primary", "candidate"):
        if not getattr(options, field).calculator:
            raise InvalidArgumentError(
                f"the shadow's option {field} names no calculator; write {field} {{ calculator: ... }}"
            )
    if not options.executor:
        raise InvalidArgumentError(
            "the shadow has no option executor; name an executor of the graph, such as a "
            "LowPriorityThreadPoolExecutor, so that the candidate takes no thread of other nodes"
        )
    if options.max_in_flight < 1:
        raise InvalidArgumentError(
            f"the shadow's max_in_flight is {options.max_in_flight}, but must be at least 1"
        )
    if not inputs or not outputs:
        raise InvalidArgumentError(
            f"there are {len(inputs)} inputs and {len(outputs)} outputs besides {_DIFF}, but at least one of "
            "each is needed; a source cannot have a shadow"
        )


def _written(port: TaggedPort, name: str) -> str:
    """Return a port as a graph names it."""
    if not port.tag:
        return name
    return f"{port.tag}:{port.index}:{name}"


def _connect(node: Any, inputs: list[Any], outputs: list[Any], prefix: str = "") -> None:
    node.input_stream.extend(_written(port, prefix + name) for port, name in inputs)
    node.output_stream.extend(_written(port, prefix + name) for port, name in outputs)


def _connect_sides(graph: Any, sc: SubgraphContext, primary: Any) -> None:
    for kind, ports in (("input", sc.input_side_packets), ("output", sc.output_side_packets)):
        for i, port in enumerate(ports):
            text = _written(port, f"side_{kind}_{i}")
            for message in (graph, primary):
                getattr(message, f"{kind}_side_packet").append(text)


def _limiter(options: ShadowOptions, inputs: int) -> Any:
    node: Any = CalculatorGraphConfig.Node(
        calculator="FlowLimiterCalculator",
        input_stream=[*(f"in_{i}" for i in range(inputs)), "FINISHED:differences"],
        output_stream=[*(f"candidate_in_{i}" for i in range(inputs)), "ALLOW:goes_to_candidate"],
    )
    node.input_stream_info.add(tag_index="FINISHED", back_edge=True)
    limits = FlowLimiterCalculatorOptions(
        max_in_flight=options.max_in_flight, in_flight_timeout=options.in_flight_timeout
    )
    node.options.Extensions[FlowLimiterCalculatorOptions.ext].CopyFrom(limits)
    return node


def _add_comparison(graph: Any, options: ShadowOptions, outputs: int, failures: str) -> None:
    pairs = graph.node.add(calculator="ShadowPairCalculator", output_stream=["PAIR:pairs"])
    pairs.input_stream.append("ALLOW:goes_to_candidate")
    for i in range(outputs):
        pairs.input_stream.extend((f"PRIMARY:{i}:out_{i}", f"CANDIDATE:{i}:candidate_out_{i}"))
    if failures:
        pairs.input_stream.append(f"FAILURE:{failures}")
    diff = graph.node.add(
        calculator="ShadowDiffCalculator",
        executor=options.executor,
        input_stream=["PAIR:pairs"],
        output_stream=["DIFF:differences"],
    )
    exactness = message_class(ShadowDiffCalculatorOptions)(tolerance=options.tolerance)
    diff.node_options.add().Pack(exactness)

"""Claim: pairing two streams by timestamp costs little, compared with the reference.

Two streams of ints with the same timestamps, fed in turns, are joined at one node: microseconds per pair. All
contestants have the default policy, some also Immediate (each packet alone, at its own time; the reference's
wheel has it too), SyncSet, and Nearest. Both engines run `PassThroughCalculator` with two streams, and the
first is observed; a function of both inputs checks that they are joined. streamz and reactivex pair the n-th
packet with the n-th.

    python benchmarks/join.py [--packets 20000] [--rounds 5] [--reference PYTHON] [--peers PYTHON]
        [--short] [--json FILE]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from contestants import REFERENCE, in_process, reference
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import join_figures, join_text

import penstock as host
from penstock_flow import HEADS, Flow

if TYPE_CHECKING:
    import argparse

FIGURE = "us a pair"
OURS = "penstock, default threads"
ADDING = "penstock, a function of both"
DEFAULT = "default policy"
NEAREST = """input_stream_handler {
  input_stream_handler: "Nearest"
  options { [penstock.NearestOptions.ext] { base: "A" tolerance: 0 } }
}"""


def penstock(packets: int, policy: str, head: str, *, apart: bool = False) -> dict[str, float]:
    """Time the pairing by a pass-through node; `head` is graph text that chooses the threads."""
    text = join_text(policy, head)
    return join_figures(lambda: Flow(text, ("a", "b"), "c", apart=apart), packets)


def penstock_mean(packets: int, policy: str) -> dict[str, float]:
    """Time a function of two inputs; its results are right only if the inputs belong together."""

    @host.register_calculator
    @host.calculator
    def mean(a: int, b: int) -> int:
        """Return the mean of both."""
        return (a + b) // 2

    handler = NEAREST if policy == "Nearest" else ""
    text = (
        f'input_stream: "a" input_stream: "b" node {{ calculator: "Mean" '
        f'input_stream: "A:a" input_stream: "B:b" output_stream: "OUT:c" {handler} }}'
    )
    return join_figures(lambda: Flow(text, ("a", "b"), "c"), packets)


def bar_value(measured: Measurements) -> float | None:
    """Return the time per pair, divided by the reference's."""
    return measured.ratio(DEFAULT, OURS, REFERENCE, FIGURE)


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--packets", type=int, help="pairs; default 20000; 300 with --short")
    given = options.parse_args()
    packets = given.packets or (300 if given.short else 20_000)
    ours = [Contestant(f"penstock, {name}", "join:penstock", {"head": head}) for name, head in HEADS.items()]
    names = tuple(each.name for each in ours)

    def case(name: str, policy: str, *who: str, **settings: object) -> Case:
        return Case(name, {"packets": packets, "policy": policy, **settings}, who or None)

    return Benchmark(
        claim="Pairing two streams by timestamp costs less than half of what it costs in the reference.",
        figure=FIGURE,
        base=REFERENCE,
        otherwise=ADDING,
        cases=[
            case(DEFAULT, ""),
            case("Immediate", "ImmediateInputStreamHandler", *names, REFERENCE, apart=True),
            case("SyncSet", "SyncSetInputStreamHandler", *names),
            case("Nearest", "Nearest", ADDING),
        ],
        contestants=[
            *ours,
            Contestant(ADDING, "join:penstock_mean"),
            reference("join", given),
            reference("join", given, "reference, 1 thread", head="num_threads: 1"),
            *in_process("join", given.peers),
        ],
        bars=[Bar(f"a pair by the {DEFAULT}, default threads, x {REFERENCE}", "at most", 0.4, bar_value)],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))

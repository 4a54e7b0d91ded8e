"""Small random graphs for faulty runs: chains, joins, loops through a limiter, sources, several executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faulty_parts import VICTIM

if TYPE_CHECKING:
    import random


class Needs(NamedTuple):
    """What a fault needs in the graph."""

    #: The calculator of the victim; "" for any.
    form: str = ""
    #: The input policy of the victim; "" for any.
    policy: str = ""
    #: Whether the victim runs on an executor of this script.
    executor: bool = False
    #: Whether a node uses the service.
    served: bool = False


class Drawn(NamedTuple):
    """A graph."""

    #: The text of the graph.
    text: str
    #: Names of the graph inputs.
    inputs: tuple[str, ...]
    #: Names of all streams.
    streams: tuple[str, ...]
    #: Names of the executors that the application hands in.
    own: tuple[str, ...]


_FORMS = ("Step", "Step", "Step", "Coroutine", "Deferred")
_POLICIES = (
    "DefaultInputStreamHandler",
    "ImmediateInputStreamHandler",
    "FixedSizeInputStreamHandler",
    "EarlyCloseInputStreamHandler",
    "FaultyPolicy",
)
_EXECUTORS = ("SingleThreadExecutor", "SingleThreadExecutor", "ApplicationThreadExecutor")


def chance(rng: random.Random, share: float) -> bool:
    """Return True in this share of all calls."""
    return rng.random() < share


def draw(rng: random.Random, needs: Needs) -> Drawn:
    """Return a random graph that has what a fault needs."""
    lines = [f"max_queue_size: {rng.choice((-1, 1, 2, 5, 100))}", f"num_threads: {rng.randint(1, 3)}"]
    inputs = [f"in{i}" for i in range(rng.randint(1, 2))]
    lines += [f'input_stream: "{name}"' for name in inputs]
    lines.append('executor { name: "own" }')
    executors = ["", "", "own"]
    if chance(rng, 0.5):
        lines.append(f'executor {{ name: "other" type: "{rng.choice(_EXECUTORS)}" }}')
        executors.append("other")
    streams = list(inputs)
    if needs.form == "Source" or chance(rng, 0.4):
        streams.append("made")
        name = VICTIM if needs.form == "Source" else "source"
        where = "own" if needs.executor else rng.choice(executors)
        lines.append(f'node {{ name: "{name}" calculator: "Source" output_stream: "made"{_on(where)} }}')
    has_loop = chance(rng, 0.25)
    if has_loop:
        streams.append("limited")
        lines.append(
            f'node {{ calculator: "FlowLimiterCalculator" input_stream: "{rng.choice(inputs)}" '
            f'input_stream: "FINISHED:s0" output_stream: "limited" '
            'input_stream_info { tag_index: "FINISHED" back_edge: true } }'
        )
    nodes = _nodes(rng, needs, streams, executors)
    rng.shuffle(nodes)
    return Drawn("\n".join([*lines, *nodes]), tuple(inputs), tuple(streams), ("own",))


def _nodes(rng: random.Random, needs: Needs, streams: list[str], executors: list[str]) -> list[str]:
    """Return the nodes, each after those that it may read; adds their outputs to `streams`."""
    count = rng.randint(1, 5)
    victim = -1 if needs.form == "Source" else rng.randrange(count)
    served = rng.randrange(count) if needs.served else -1
    has_side = count > 1 and chance(rng, 0.3)
    nodes = []
    for number in range(count):
        is_victim = number == victim
        form = (needs.form if is_victim else "") or rng.choice(_FORMS)
        sources = _sources(rng, number, streams)
        policies = _POLICIES if len(sources) == 1 else _POLICIES[:1]
        policy = (needs.policy if is_victim else "") or rng.choice(policies)
        where = "own" if is_victim and needs.executor else rng.choice(executors)
        parts = [
            f'name: "{VICTIM if is_victim else f"n{number}"}"',
            f'calculator: "{"Served" if number == served else form}"',
            *[f'input_stream: "{one}"' for one in sources],
            f'output_stream: "s{number}"{_on(where)}',
            f'input_stream_handler {{ input_stream_handler: "{policy}"{_options(rng, policy)} }}',
        ]
        if has_side and number == 0:
            parts.append('output_side_packet: "side"')
        if has_side and number == count - 1:
            parts.append('input_side_packet: "side"')
        if chance(rng, 0.3):
            parts.append(f"max_in_flight: {rng.randint(2, 3)}")
        nodes.append(f"node {{ {' '.join(parts)} }}")
        streams.append(f"s{number}")
    return nodes


def _options(rng: random.Random, policy: str) -> str:
    if policy != "Timeout":
        return ""
    return f" options {{ [penstock.TimeoutOptions.ext] {{ timeout_ms: {rng.choice((1, 5, 1000))} }} }}"


def _on(executor: str) -> str:
    return f' executor: "{executor}"' if executor else ""


def _sources(rng: random.Random, number: int, streams: list[str]) -> list[str]:
    """Return what a node reads: the limiter, if it is the first one of a loop; else often the node before."""
    found = rng.sample(streams, min(len(streams), rng.choice((1, 1, 1, 2, 3))))
    first = ""
    if number == 0 and "limited" in streams:
        first = "limited"
    elif number and chance(rng, 0.5):
        first = f"s{number - 1}"
    return list(dict.fromkeys([first, *found])) if first else found

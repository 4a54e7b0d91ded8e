"""Small random graphs for faulty runs: chains, joins, loops through a limiter, sources, several executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faulty_parts import VICTIM

if TYPE_CHECKING:
    import random


class Needs(NamedTuple):
    """What a fault needs in the graph.

    Attributes:
        form: the calculator of the victim; "" for any.
        policy: the input policy of the victim; "" for any.
        executor: whether the victim runs on an executor of this script.
        served: whether a node uses the service.
    """

    form: str = ""
    policy: str = ""
    executor: bool = False
    served: bool = False


class Drawn(NamedTuple):
    """A graph.

    Attributes:
        text: of the graph.
        inputs: names of the graph inputs.
        streams: names of all streams.
        own: names of the executors that the application hands in.
    """

    text: str
    inputs: tuple[str, ...]
    streams: tuple[str, ...]
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


def draw(rng: random.Random, needs: Needs) -> Drawn:
    """Return a random graph that has what a fault needs."""
    lines = [f"max_queue_size: {rng.choice((-1, 1, 2, 5, 100))}", f"num_threads: {rng.randint(1, 3)}"]
    if rng.random() < 0.1:
        lines.append("report_deadlock: false")
    inputs = [f"in{i}" for i in range(rng.randint(1, 2))]
    lines += [f'input_stream: "{name}"' for name in inputs]
    own = ["own"]
    lines.append('executor { name: "own" }')
    executors = ["", "", "own"]
    if rng.random() < 0.5:
        lines.append(f'executor {{ name: "other" type: "{rng.choice(_EXECUTORS)}" }}')
        executors.append("other")
    streams = list(inputs)
    if rng.random() < 0.4 and needs.form != "Source":
        streams.append("made")
        lines.append('node { name: "source" calculator: "Source" output_stream: "made" }')
    if needs.form == "Source":
        streams.append("made")
        where = ' executor: "own"' if needs.executor or rng.random() < 0.5 else ""
        lines.append(f'node {{ name: "{VICTIM}" calculator: "Source" output_stream: "made"{where} }}')
    loop = rng.random() < 0.25
    head = rng.choice(inputs)
    if loop:
        streams.append("limited")
    count = rng.randint(1, 5)
    victim = -1 if needs.form == "Source" else rng.randrange(count)
    served = rng.randrange(count) if needs.served else -1
    side = rng.random() < 0.3
    nodes = []
    for number in range(count):
        is_victim = number == victim
        form = (needs.form if is_victim else "") or rng.choice(_FORMS)
        if number == served:
            form = "Served"
        sources = rng.sample(streams, min(len(streams), rng.choice((1, 1, 1, 2, 3))))
        if loop and number == 0:
            sources = ["limited", *[one for one in sources if one != "limited"]]
        if number and rng.random() < 0.5:
            sources = [f"s{number - 1}", *[one for one in sources if one != f"s{number - 1}"]]
        policy = (needs.policy if is_victim else "") or (
            rng.choice(_POLICIES) if len(sources) == 1 else "DefaultInputStreamHandler"
        )
        where = "own" if is_victim and needs.executor else rng.choice(executors)
        name = VICTIM if is_victim else f"n{number}"
        parts = [f'name: "{name}"', f'calculator: "{form}"', *[f'input_stream: "{one}"' for one in sources]]
        parts.append(f'output_stream: "s{number}"')
        if side and number == 0:
            parts.append('output_side_packet: "side"')
        if side and number == count - 1 and number:
            parts.append('input_side_packet: "side"')
        if where:
            parts.append(f'executor: "{where}"')
        if rng.random() < 0.3:
            parts.append(f"max_in_flight: {rng.randint(2, 3)}")
        parts.append(f'input_stream_handler {{ input_stream_handler: "{policy}" }}')
        nodes.append("node { " + " ".join(parts) + " }")
        streams.append(f"s{number}")
    if loop:
        lines.append(
            f'node {{ calculator: "FlowLimiterCalculator" input_stream: "{head}" '
            f'input_stream: "FINISHED:s0" output_stream: "limited" '
            'input_stream_info { tag_index: "FINISHED" back_edge: true } }'
        )
    rng.shuffle(nodes)
    return Drawn("\n".join([*lines, *nodes]), tuple(inputs), tuple(streams), tuple(own))

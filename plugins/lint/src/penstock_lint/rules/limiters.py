"""Rules about flow limiters: PS2.."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_lint.finding import Found, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lowlevel import NodePlan
    from penstock_lint.linted import LintedGraph

_LIMITERS: Final = ("FlowLimiterCalculator", "RealTimeFlowLimiterCalculator")
#: Sources that read files, whose frames can wait.
_FILES: Final = ("OpenCvVideoDecoderCalculator", "VideoDecoderCalculator")


def _finished(node: NodePlan) -> list[int]:
    return [port.stream for port in node.inputs if port.tag == "FINISHED"]


def _main(node: NodePlan) -> list[int]:
    """Return the streams that a limiter limits."""
    return [port.stream for port in node.inputs if not port.tag]


def _not_behind(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.of_kind(*_LIMITERS):
        behind = graph.behind(graph.outputs_of(node))
        for stream in _finished(node):
            if stream not in behind and not graph.comes_from_outside(stream):
                name = graph.plan.streams[stream].name
                yield Found(
                    node.id,
                    f"limiter {node.name!r} takes {name!r} for the end of the work, but that stream does "
                    "not come "
                    "of what it lets pass: it limits nothing",
                )


def _chain(graph: LintedGraph) -> Iterator[Found]:
    limiters = list(graph.of_kind(*_LIMITERS))
    for inner in limiters:
        for outer in limiters:
            if inner.id == outer.id:
                continue
            behind_outer = graph.behind(graph.outputs_of(outer), past_back_edges=False)
            behind_inner = graph.behind(graph.outputs_of(inner), past_back_edges=False)
            is_inside = set(_main(inner)) & behind_outer
            if is_inside and set(_finished(outer)) & behind_inner:
                yield Found(
                    inner.id,
                    f"limiter {inner.name!r} is behind limiter {outer.name!r}, which waits for the end "
                    "of the same "
                    "work: the inner one never acts",
                )


def _after_file(graph: LintedGraph) -> Iterator[Found]:
    for source in graph.of_kind(*_FILES):
        read = graph.behind(graph.outputs_of(source), past_back_edges=False)
        for node in graph.of_kind(*_LIMITERS):
            if set(_main(node)) & read:
                yield Found(
                    node.id,
                    f"limiter {node.name!r} drops frames of the file that {source.name!r} reads, though "
                    "they could "
                    "wait",
                )


_FORWARD: Final = 'node { calculator: "PassThroughCalculator" input_stream: "%s" output_stream: "%s" }\n'
_LIMITER: Final = (
    'node { calculator: "FlowLimiterCalculator" input_stream: "%s" input_stream: "FINISHED:%s"\n'
    '  input_stream_info { tag_index: "FINISHED" back_edge: true } output_stream: "%s" }\n'
)

RULES: Final = (
    Rule(
        "PS202",
        "limiter-not-behind",
        "A flow limiter counts a packet as done when something comes on FINISHED. Where that stream does "
        "not come "
        "of what it lets pass, it limits nothing.",
        "connect FINISHED with a stream from behind the work that is to be limited",
        _not_behind,
        'input_stream: "in"\noutput_stream: "out"\n'
        'node { calculator: "FlowLimiterCalculator" input_stream: "in" input_stream: "FINISHED:in"\n'
        '  output_stream: "some" }\n' + _FORWARD % ("some", "out"),
        'input_stream: "in"\noutput_stream: "out"\n'
        + _LIMITER % ("in", "out", "some")
        + _FORWARD % ("some", "out"),
    ),
    Rule(
        "PS204",
        "limiter-chain",
        "Two flow limiters wait for the end of the same work, one behind the other. The inner one never "
        "acts, and "
        "each of its drops would block the outer one.",
        "keep one of them",
        _chain,
        'input_stream: "in"\noutput_stream: "y"\n'
        + _LIMITER % ("in", "y", "a")
        + _LIMITER % ("a", "x", "b")
        + _FORWARD % ("b", "x")
        + _FORWARD % ("x", "y"),
        'input_stream: "in"\noutput_stream: "y"\n'
        + _LIMITER % ("in", "y", "a")
        + _FORWARD % ("a", "x")
        + _FORWARD % ("x", "y"),
    ),
    Rule(
        "PS205",
        "limiter-after-file",
        "A flow limiter drops frames that come while it works. Frames of a file can wait: without a "
        "limiter full "
        "queues slow the decoder down, and no frame is lost.",
        "take the limiter away, or keep it in a graph for live sources only",
        _after_file,
        'input_side_packet: "path"\noutput_stream: "out"\n'
        'node { calculator: "OpenCvVideoDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:path"\n'
        '  output_stream: "VIDEO:in" }\n' + _LIMITER % ("in", "out", "some") + _FORWARD % ("some", "out"),
        'input_side_packet: "path"\noutput_stream: "out"\n'
        'node { calculator: "OpenCvVideoDecoderCalculator" input_side_packet: "INPUT_FILE_PATH:path"\n'
        '  output_stream: "VIDEO:in" }\n' + _FORWARD % ("in", "out"),
    ),
)

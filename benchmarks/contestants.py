"""The peers that chain, latency and join share, as contestants. Standard library only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from side_by_side import Contestant

if TYPE_CHECKING:
    import argparse

REFERENCE = "reference, default threads"


def in_process(workload: str, peers: str) -> list[Contestant]:
    """Return the peers in Python with that workload: the plain loop, code by hand, and two libraries."""
    return [
        Contestant("plain loop (the floor)", f"peers.plain_loop:{workload}"),
        *(
            Contestant(f"threads and {kind}", f"peers.threads:{workload}", {"kind": kind})
            for kind in ("Queue", "SimpleQueue")
        ),
        Contestant("asyncio queues", f"peers.asyncio_queues:{workload}"),
        Contestant("streamz", f"peers.with_streamz:{workload}", python=peers, optional=True),
        Contestant("reactivex", f"peers.with_reactivex:{workload}", python=peers, optional=True),
    ]


def gstreamer(workload: str, given: argparse.Namespace) -> Contestant:
    """Return GStreamer with that workload."""
    return Contestant(
        "GStreamer, elements in C",
        f"peers.with_gstreamer:{workload}",
        python=given.gstreamer,
        optional=True,
        option="--gstreamer PYTHON",
    )


def reference(
    workload: str, given: argparse.Namespace, name: str = REFERENCE, **settings: object
) -> Contestant:
    """Return the reference with that workload."""
    return Contestant(
        name,
        f"peers.reference:{workload}",
        settings,
        python=given.reference,
        optional=True,
        option="--reference PYTHON",
    )

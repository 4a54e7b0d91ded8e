"""What executors need whose nodes work elsewhere; `remote.md` beside the README shows one.

In the driver
    `described` describes a node, or a region of neighbours, as plain data (`Described`); `check_all_movable`
    and `check_movable` refuse nodes that must stay, `contract_difference` words how two contracts differ,
    `description_graph` is the graph of a node alone. `RemoteCalculator` stands for the calculator; `end_of`
    makes the `RegionEnd` of a region, `region_names` its names. `colocated` puts nodes `Together` in
    `Places`; `check_names` and `nodes_named` look at the names that an option gives.
Between both ends
    A `Call` goes there, an `Answer` comes back; a `RemotePayload` has stayed there. A `Pending` call can be
    cancelled; `NodeCopies` are several objects of one node; `Killers` end a process whose cancelled calls go
    on. `THIS_MACHINE` is the `Machine` that makes their locks, threads and timers.
At the other end
    `hosted` makes what has been described (`Hosted`). A `LogSender` sends log records to the driver, while
    `log_as_node` says for which node, and `log_here` logs them there. `end_child` ends a process that a
    calculator has forked and that came back from its call.
Errors
    `WorkerDiedError`, `RemoteError`; `error_as_data` and `error_from_data` carry exceptions, `input_fault`
    and `output_fault` say which payload cannot go.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_remote.calls import Answer as Answer
    from penstock_remote.calls import Call as Call
    from penstock_remote.children import end_child as end_child
    from penstock_remote.colocate import Places as Places
    from penstock_remote.colocate import Together as Together
    from penstock_remote.colocate import colocated as colocated
    from penstock_remote.description import Described as Described
    from penstock_remote.description import contract_difference as contract_difference
    from penstock_remote.description import described as described
    from penstock_remote.description import description_graph as description_graph
    from penstock_remote.errors import RemoteError as RemoteError
    from penstock_remote.errors import WorkerDiedError as WorkerDiedError
    from penstock_remote.errors import error_as_data as error_as_data
    from penstock_remote.errors import error_from_data as error_from_data
    from penstock_remote.errors import input_fault as input_fault
    from penstock_remote.errors import output_fault as output_fault
    from penstock_remote.hosted import Hosted as Hosted
    from penstock_remote.hosted import hosted as hosted
    from penstock_remote.killers import Killers as Killers
    from penstock_remote.logs import LogSender as LogSender
    from penstock_remote.logs import log_as_node as log_as_node
    from penstock_remote.logs import log_here as log_here
    from penstock_remote.machine import THIS_MACHINE as THIS_MACHINE
    from penstock_remote.machine import Machine as Machine
    from penstock_remote.movable import check_all_movable as check_all_movable
    from penstock_remote.movable import check_movable as check_movable
    from penstock_remote.node_copies import NodeCopies as NodeCopies
    from penstock_remote.node_names import check_names as check_names
    from penstock_remote.node_names import nodes_named as nodes_named
    from penstock_remote.pending import Pending as Pending
    from penstock_remote.region_end import RegionEnd as RegionEnd
    from penstock_remote.region_end import end_of as end_of
    from penstock_remote.regions import region_names as region_names
    from penstock_remote.remote_payload import RemotePayload as RemotePayload
    from penstock_remote.stand_in import RemoteCalculator as RemoteCalculator

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_remote.calls": "Answer Call",
    "penstock_remote.remote_payload": "RemotePayload",
    "penstock_remote.children": "end_child",
    "penstock_remote.description": "Described contract_difference described description_graph",
    "penstock_remote.errors": (
        "RemoteError WorkerDiedError error_as_data error_from_data input_fault output_fault"
    ),
    "penstock_remote.hosted": "Hosted hosted",
    "penstock_remote.killers": "Killers",
    "penstock_remote.logs": "LogSender log_as_node log_here",
    "penstock_remote.machine": "Machine THIS_MACHINE",
    "penstock_remote.movable": "check_all_movable check_movable",
    "penstock_remote.node_copies": "NodeCopies",
    "penstock_remote.node_names": "check_names nodes_named",
    "penstock_remote.pending": "Pending",
    "penstock_remote.region_end": "RegionEnd end_of",
    "penstock_remote.regions": "region_names",
    "penstock_remote.stand_in": "RemoteCalculator",
    "penstock_remote.colocate": "Places Together colocated",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)

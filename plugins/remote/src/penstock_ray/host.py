"""What runs in an actor: nodes of a driver's graph, called with messages."""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.packs import default_registry
from penstock_ray.messages import Ready, Reply, Request
from penstock_ray.process_state import leave_ray, own_identity
from penstock_ray.references import Later, resolved
from penstock_ray.wire import dumps, loads
from penstock_remote.api import Call, LogSender, end_child, error_as_data, hosted, log_as_node, output_fault

if TYPE_CHECKING:
    from penstock_ray.messages import HostSetup, NodeSetup
    from penstock_remote.api import Answer, Hosted

_CLOSE_S: Final = 1.0
#: The most log records that wait for a reply; later ones are dropped, and counted.
_MOST_RECORDS: Final = 10_000
#: What a SystemExit has with which Ray ends an actor, as where the process gets SIGTERM.
_RAY_ENDS: Final = "ray_terminate_msg"


class NodeHost:
    """The class of all actors. Calls overlap where the actor was given several threads."""

    def __init__(self, setup: HostSetup) -> None:
        self._ready: Final = self._who()
        #: Whether this is a child that a calculator has forked.
        self._is_child = False
        self._nodes: Final[dict[int, _Hosted]] = {}
        self._services: Final[dict[Any, object]] = {}
        self._running: Final[dict[int, Hosted]] = {}
        self._records: list[dict[str, Any]] = []
        self._dropped = 0
        self._logs: Final = threading.Lock()
        self._take_over(setup)

    @staticmethod
    def _who() -> Ready:
        from ray import get_runtime_context
        from ray.util import get_node_ip_address

        address = get_node_ip_address()  # type: ignore[no-untyped-call, unused-ignore]  # where Ray is there
        return Ready(os.getpid(), address, get_runtime_context().get_node_id(), own_identity())

    def _take_over(self, setup: HostSetup) -> None:
        """Let the process look for modules where the driver does, and send what is logged there."""
        missing = [one for one in setup.path if one not in sys.path and Path(one).is_dir()]
        sys.path.extend(missing)
        root = logging.getLogger()
        root.addHandler(LogSender(self._keep_record, self._ready.host))
        root.setLevel(setup.log_level)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._let_go)

    def _let_go(self) -> None:
        """Let a child of this process hold nothing by which Ray would take it for the actor."""
        self._is_child = True
        leave_ray()

    def ready(self) -> Ready:
        """Say who this is."""
        return self._ready

    def call(self, data: bytes, *arguments: Any) -> Any:
        """Do a batch of calls.

        Args:
            data: the pickle of a `Request`.
            arguments: its buffers, and then what its references lead to.

        Returns:
            The pickle of a `Reply`; as a tuple with its buffers where there are any. Where outputs stay on
            the cluster, a list with that, and for each such output a list of its payloads.
        """
        request = Request(*loads(data, arguments))
        referred = arguments[len(arguments) - request.references :]
        for old in request.forgotten:
            gone = self._nodes.pop(old, None)
            if gone is not None and gone.node is not None:
                gone.node.close(_CLOSE_S)
        if request.setup is not None:
            self._nodes[request.key] = _Hosted(request.setup, self._services)
        target = self._nodes[request.key]
        staying: list[list[Any]] = [[] for _ in target.by_reference]
        answers: list[tuple[Any, ...]] = []
        for number, content in zip(request.numbers, request.calls, strict=True):
            answers.append(self._called(target, number, content, referred, staying))
        del request
        packed = self._packed(answers)
        return [packed, *staying] if target.by_reference else packed

    def cancel(self, number: int) -> None:
        """Cancel what a call waits for, where the actor has a thread for that."""
        node = self._running.get(number)
        if node is not None:
            node.cancel()

    def end(self) -> None:
        """Close what nodes and services hold; nobody calls them any more."""
        for one in self._nodes.values():
            if one.node is not None:
                one.node.close(_CLOSE_S)
        for service in self._services.values():
            close = getattr(service, "close", None)
            if close is not None:
                close()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # nobody reads it
                stream.flush()

    def _called(
        self,
        hosted: _Hosted,
        number: int,
        content: tuple[Any, ...],
        references: tuple[Any, ...],
        staying: list[list[Any]],
    ) -> tuple[Any, ...]:
        """Do one call; return its answer, or its error, packed."""
        try:
            node = hosted.made()
            call = Call(*content)
            if references:
                call = call._replace(inputs=[resolved(one, references) for one in call.inputs])
            self._running[number] = node
            try:
                with log_as_node(node.name):
                    answer = node.call(call)
            finally:
                if self._is_child:
                    end_child(node.name)
                del self._running[number]
            stamp = call.stamp
            del call, content
            return self._kept_here(hosted, answer, staying, node, stamp)
        except BaseException as error:
            if isinstance(error, SystemExit) and hasattr(error, _RAY_ENDS):
                raise
            return error_as_data(error)

    @staticmethod
    def _kept_here(
        hosted: _Hosted, answer: Answer, staying: list[list[Any]], node: Hosted, stamp: int
    ) -> tuple[Any, ...]:
        """Return an answer packed, without the payloads that stay on the cluster, which go to `staying`.

        Raises:
            InvalidArgumentError: a payload cannot go to another process; names it. Nothing stays then.
        """
        outputs = list(answer.outputs)
        before = [len(payloads) for payloads in staying]
        try:
            for place, number in enumerate(hosted.by_reference):
                written = outputs[number]
                if written is not None and written[0]:
                    payloads = staying[place]
                    packets = [(at, Later(place, len(payloads) + n)) for n, (at, _) in enumerate(written[0])]
                    outputs[number] = (packets, *written[1:])
                    payloads += [payload for _, payload in written[0]]
                    dumps(payloads[before[place] :])  # raises for what Ray cannot pack
            return dumps(tuple(answer._replace(outputs=outputs)))
        except (Exception, SystemExit) as error:
            for payloads, count in zip(staying, before, strict=True):
                del payloads[count:]
            raise output_fault(node, answer, stamp, dumps) or error from error

    def _packed(self, answers: list[tuple[Any, ...]]) -> Any:
        with self._logs:
            records, self._records = self._records, []
            dropped, self._dropped = self._dropped, 0
        data, buffers = dumps(tuple(Reply(answers, records, dropped)))
        return (data, buffers) if buffers else data

    def _keep_record(self, record: dict[str, Any]) -> None:
        with self._logs:
            if len(self._records) < _MOST_RECORDS:
                self._records.append(record)
            else:
                self._dropped += 1


class _Hosted:
    """A node, or why it could not be made."""

    def __init__(self, setup: NodeSetup, services: dict[Any, object]) -> None:
        #: Numbers of the outputs whose payloads stay on the cluster.
        self.by_reference: Final = setup.by_reference
        #: The node; None where it could not be made.
        self.node: Hosted | None = None
        self._fault: BaseException | None = None
        try:
            self.node = hosted(setup.node, default_registry(), services, codes=setup.codes)
        except BaseException as error:  # noqa: BLE001  # told to the driver, with its call
            self._fault = error

    def made(self) -> Hosted:
        """Return the node.

        Raises:
            Exception: what kept it from being made.
        """
        if self.node is None:
            raise self._fault or RuntimeError("the node was not made on this Ray host")
        return self.node

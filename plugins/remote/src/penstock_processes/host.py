"""What starts the process of a worker, and connects with it: this machine."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

from penstock_processes.process import WorkerProcess
from penstock_processes.worker import work
from penstock_remote.api import Machine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.context import BaseContext

    from penstock_processes.worker_setup import WorkerSetup


class Host(Machine):
    """A machine that starts processes."""

    def socket_pair(self) -> tuple[socket.socket, socket.socket]:
        """Return two connected sockets.

        Raises:
            OSError: no descriptors are left.
        """
        return socket.socketpair()

    def start(  # noqa: PLR0913  # as of `WorkerProcess`
        self,
        context: BaseContext,
        setup: WorkerSetup,
        name: str,
        timeout_s: float,
        sockets: Sequence[socket.socket],
        *,
        is_in_sandbox: bool,
    ) -> WorkerProcess:
        """Start a worker; arguments and errors are as of `WorkerProcess`."""
        return WorkerProcess(context, work, setup, name, timeout_s, sockets, is_in_sandbox=is_in_sandbox)


#: This machine.
THIS_HOST: Final = Host()

"""The cluster that this process is connected with: one for each process, so all executors share it."""

from __future__ import annotations

import logging
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from penstock.errors import FailedPreconditionError, InvalidArgumentError, PenstockError, StatusCode
from penstock.log import get_logger

if TYPE_CHECKING:
    from types import ModuleType

    from penstock_ray.options import RayExecutorOptions

_logger = get_logger(__name__)

#: How long the head of a cluster may take to accept a connection.
_CONNECT_S: Final = 10.0
_LOCK: Final = threading.Lock()
#: How many executors use the cluster; None: it was there before them, and stays.
_users: int | None = None


class ClusterError(PenstockError):
    """There is no cluster at the address."""

    default_code = StatusCode.UNAVAILABLE


def ray_module() -> ModuleType:
    """Return Ray.

    Raises:
        FailedPreconditionError: it is not installed; says how to get it.
    """
    # In a program that `uv run` started Ray would let each worker do the same, in an environment of its own.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    try:
        import ray
    except ImportError as error:
        raise FailedPreconditionError(
            'the cluster of a RayExecutor needs Ray, not installed here: pip install "penstock-remote[ray]"; '
            "there is no wheel of it for some systems"
        ) from error
    return ray  # type: ignore[no-any-return, unused-ignore]  # Any where Ray is missing


def connect(options: RayExecutorOptions) -> None:
    """Connect with the cluster of an executor, or count one more user of the one that is connected.

    Where none is at hand a local one is started; the last user ends it.

    Raises:
        FailedPreconditionError: Ray is not installed.
        ClusterError: there is no cluster at the address.
        InvalidArgumentError: this process is connected with another cluster.
    """
    global _users  # noqa: PLW0603  # Ray's own state is as global
    ray = ray_module()
    address = options.address or os.environ.get("RAY_ADDRESS", "")
    with _LOCK:
        if ray.is_initialized():
            _check_same(ray, options.address)
            if _users is not None:
                _users += 1
            return
        try:
            _users = _connect(ray, address)
        except BaseException:
            ray.shutdown()
            raise


def disconnect() -> None:
    """Say that an executor needs the cluster no more; the last one ends what `connect` has begun."""
    global _users  # noqa: PLW0603  # as above
    with _LOCK:
        if _users is None:
            return
        _users -= 1
        if _users:
            return
        _users = None
        ray_module().shutdown()


def read_runtime_env(path: str) -> dict[str, Any]:
    """Return what a file says about the hosts' environment.

    Raises:
        InvalidArgumentError: there is no such file, or it is no mapping in YAML or JSON.
    """
    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InvalidArgumentError(f"the cluster's runtime_env {path!r} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InvalidArgumentError(
            f"the cluster's runtime_env {path!r} holds a {type(found).__name__}, but must be a mapping, as "
            "{pip: [...]}"
        )
    return found


def _connect(ray: Any, address: str) -> int:
    """Connect, and return how many users there are."""
    at = _running_here() if address in {"", "auto"} else address
    if at:
        try:
            _check_reached(at)
            ray.init(address=at, logging_level=logging.WARNING)
        except (OSError, ValueError, RuntimeError) as error:
            if address:
                raise ClusterError(
                    f"there is no Ray cluster at {address!r}: {_first_line(error)}; start one there with "
                    "`ray start --head`, or leave `address` empty for one on this machine"
                ) from error
        else:
            return 1
    elif address:
        raise ClusterError(
            "address is 'auto', but no Ray cluster runs on this machine; start one with `ray start --head`, "
            "or leave `address` empty: then one is started for the graph"
        )
    _logger.warning(
        "no Ray cluster is at hand: starting one on this machine, with %d processors; it ends with the graph",
        os.cpu_count() or 1,
    )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster that nobody asked for reports nothing
    ray.init(address="local", include_dashboard=False, logging_level=logging.ERROR)
    return 1


def _running_here() -> str:
    """Return the address of the cluster that was started last on this machine; "" if there is none.

    Ray keeps it in a file, also when the cluster was killed, and then tries for minutes to reach it.
    """
    path = Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster"  # noqa: S108  # Ray's own
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _check_reached(address: str) -> None:
    """Raise an OSError if nobody listens at "host:port"; Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "//" not in host:
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()


def _check_same(ray: Any, address: str) -> None:
    here = ray.get_runtime_context().gcs_address
    if address not in ("", "auto", "local", here):
        raise InvalidArgumentError(
            f"address is {address!r}, but this process is connected with the cluster at {here!r}, and Ray "
            "allows one; close the graphs that use it, or call ray.shutdown()"
        )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")

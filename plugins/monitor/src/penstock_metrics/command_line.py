"""`--metrics` and `--metrics-on` of the commands that run graphs, and what they start.

The port is taken while the command line is read, so that one that is in use is an error before anything
starts. What is started ends with the command.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import AlreadyExistsError, InvalidArgumentError, UnavailableError
from penstock.log import get_logger
from penstock_cli.api import RunFailed, WrongUsage, say

if TYPE_CHECKING:
    from penstock import CalculatorGraph
    from penstock_metrics.server import MetricsServer
    from penstock_metrics.telemetry import Telemetry
    from penstock_metrics.watched_graphs import WatchedGraphs

_LOG: Final = get_logger("metrics")
#: Keys in `click.Context.meta`: the server, what exports, and the graphs, of one command.
_SERVER: Final = "penstock_metrics.server"
_TELEMETRY: Final = "penstock_metrics.telemetry"
_GRAPHS: Final = "penstock_metrics.graphs"
_LOCAL: Final = "127.0.0.1"
#: The environment variable with the token that requests must have.
_TOKEN: Final = "PENSTOCK_METRICS_TOKEN"  # noqa: S105  # a name
_MOST_PORTS: Final = 65535


def _serve(ctx: click.Context, _parameter: click.Parameter, port: int | None) -> int | None:
    address = ctx.params.get("metrics_on")
    if ctx.resilient_parsing:
        return port
    if port is None:
        if address is not None:
            raise click.UsageError(f"--metrics-on {address}: nothing is served without --metrics PORT", ctx)
        return None
    from penstock_metrics.prometheus import PrometheusMetrics  # on demand: brings prometheus-client
    from penstock_metrics.server import MetricsServer

    try:
        server = MetricsServer(PrometheusMetrics(), port, address or _LOCAL, os.environ.get(_TOKEN) or None)
    except InvalidArgumentError as error:
        raise WrongUsage(f"--metrics {port}: {error}") from error
    except UnavailableError as error:
        raise RunFailed(f"--metrics {port}: {error}") from error
    ctx.meta[_SERVER] = server
    ctx.call_on_close(server.close)
    return port


#: For the commands that run graphs. The address is read first, since the port is taken on it.
OPTIONS: Final = (
    click.Option(
        ["--metrics"],
        type=click.IntRange(0, _MOST_PORTS),
        metavar="PORT",
        callback=_serve,
        help="Serve metrics for Prometheus on this port while the graph runs; 0 takes any free one. Needs "
        "penstock-monitor[prometheus] installed. With "
        "OTEL_EXPORTER_OTLP_ENDPOINT in the environment, metrics and spans are also sent there; with "
        "PENSTOCK_METRICS_TOKEN, requests must have that token: Authorization: Bearer TOKEN.",
    ),
    click.Option(
        ["--metrics-on"],
        metavar="ADDRESS",
        is_eager=True,
        help="Serve the metrics on this address of the machine, for others to read.  [default: 127.0.0.1]",
    ),
)


def prepare(graph: CalculatorGraph) -> None:
    """Give a graph that is about to run to the server and the exporter of the command that runs it."""
    ctx = click.get_current_context(silent=True)
    if ctx is None or "metrics" not in ctx.params:
        return
    server: MetricsServer | None = ctx.meta.get(_SERVER)
    telemetry = _telemetry(ctx, None if server is None else server.metrics.graphs)
    if server is not None:
        _add(server.metrics.graphs, graph, _name(ctx, graph))
        if not ctx.params.get("quiet"):
            said = "" if server.is_local else ", for all who reach this address"
            if server.has_token:
                said = f", for requests with the token of {_TOKEN}"
            elif not server.is_local:
                said += f"; {_TOKEN} in the environment makes it ask for a token"
            say(f"metrics: {server.url}{said}")
    elif telemetry is not None:
        _add(telemetry.graphs, graph, _name(ctx, graph))
    if telemetry is not None:
        ctx.meta.setdefault(_GRAPHS, []).append(graph)  # its last numbers are sent when the command ends


def _add(graphs: WatchedGraphs, graph: CalculatorGraph, name: str) -> None:
    """Add a graph; a command that runs several of one name has "name", "name-2" and so on."""
    for number in itertools.count(1):
        try:
            graphs.add(graph, name if number == 1 else f"{name}-{number}")
        except AlreadyExistsError:
            continue
        return


def _telemetry(ctx: click.Context, graphs: WatchedGraphs | None) -> Telemetry | None:
    """Return what exports, made when the first graph of the command runs; None where nothing is asked for."""
    if _TELEMETRY not in ctx.meta:
        telemetry = ctx.meta[_TELEMETRY] = _asked(graphs)
        if telemetry is not None:
            ctx.call_on_close(telemetry.close)
    found: Telemetry | None = ctx.meta[_TELEMETRY]
    return found


def _asked(graphs: WatchedGraphs | None) -> Telemetry | None:
    if not any(name.startswith("OTEL_EXPORTER_OTLP") and name.endswith("ENDPOINT") for name in os.environ):
        return None
    from penstock_metrics.telemetry import Wanted, export_otlp  # on demand: brings OpenTelemetry

    try:
        if Wanted.of(os.environ).is_asked:
            return export_otlp(graphs=graphs)
    except (InvalidArgumentError, UnavailableError) as error:
        _LOG.warning("metrics and spans are not exported: %s", error)
    return None


def _name(ctx: click.Context, graph: CalculatorGraph) -> str:
    """Return the graph's name: its `type`, or the name of the command's file, or the command."""
    from penstock_metrics.watched_graphs import type_of  # on demand, as above

    file = ctx.params.get("graph") or ctx.params.get("recording")
    return type_of(graph) or (file.stem if file is not None else str(ctx.info_name))

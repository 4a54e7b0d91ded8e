"""Send random requests without the token to the live page and to the metrics, and look what they cost.

    uv run python scripts/trials/fuzz_doors.py --seconds 3600 --seed 36

Requests are legal ones that were changed at random. A finding is an answer that holds anything of the graph,
more than 20 MB of memory that stay, more than 5 % of a processor, a descriptor that is left, or a server that
does not answer its owner within two seconds; the exit status is 1 then. The servers are in a process of their
own. Linux only.
"""

from __future__ import annotations

import os
import random
import socket
import sys
import time
from contextlib import suppress
from multiprocessing import Pipe, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.request import Request, urlopen

import click

import penstock
import penstock_live
import penstock_metrics

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: Names that no answer may hold.
SECRETS: Final = (b"secret_stream", b"SecretGraph", b"penstock_")
GRAPH: Final = 'type: "SecretGraph" input_stream: "secret_stream"'
TOKEN: Final = "correct horse battery staple"  # noqa: S105  # of the trial
MOST_MIB: Final = 20
MOST_SHARE: Final = 0.05
PATIENCE_S: Final = 2.0
#: How long the servers may take to start, and to end.
START_S: Final = 30.0
PATHS: Final = (
    "/",
    "/reading",
    "/events",
    "/metrics",
    "/thumbnails?stream=x",
    "/graph.svg",
    "/minute",
    "/node?name=x",
    "*",
)
METHODS: Final = ("GET", "HEAD", "POST", "OPTIONS", "TRACE", "CONNECT", "", "get")


def request(chance: random.Random, port: int) -> bytes:
    """Return a request, changed at random."""
    host = chance.choice((f"127.0.0.1:{port}", "evil.com", "[::1].evil", "", "localhost", "a" * 9000))
    token = "x" * chance.choice((0, 3, 32, 40_000))
    lines = [f"{chance.choice(METHODS)} {chance.choice(PATHS)}?token={token} HTTP/1.1"]
    lines += [f"Host: {host}"] * chance.choice((1, 1, 1, 0, 2))
    lines += [f"X-{n}: {'y' * chance.choice((1, 100, 20_000))}" for n in range(chance.choice((0, 1, 5, 300)))]
    lines += chance.choice(
        ([], ["Content-Length: 999999999"], ["Transfer-Encoding: chunked"], ["Connection: close"])
    )
    data = bytearray("\r\n".join([*lines, "", ""]).encode())
    for _ in range(chance.choice((0, 0, 1, 5, 50))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if chance.random() < 0.2:  # noqa: PLR2004  # some are cut, some are repeated
        del data[chance.randrange(len(data)) :]
    return bytes(data) * chance.choice((1, 1, 1, 20, 400))


def attack(chance: random.Random, port: int) -> str:
    """Send one request, or several connections of them; return what is wrong with the answer."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.3) as client:
        with suppress(OSError):
            for _ in range(chance.choice((1, 1, 2, 30))):
                client.sendall(request(chance, port))
        answer = b""
        with suppress(OSError):
            while len(answer) < 1 << 20 and (more := client.recv(65536)):
                answer += more
        return next((f"an answer holds {one!r}: {answer[:300]!r}" for one in SECRETS if one in answer), "")
    return ""


def state(pid: int) -> tuple[int, int, int]:
    """Return resident MiB, threads and descriptors of a process."""
    folder = Path("/proc") / str(pid)
    said = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
    return int(said["VmRSS"].split()[0]) >> 10, int(said["Threads"]), len(list((folder / "fd").iterdir()))


def processor_time(pid: int) -> float:
    """Return the processor time of all threads of a process, in seconds."""
    fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve(end: Connection) -> None:
    """Serve both doors of a graph, say where, and end when the other end does."""
    with (
        penstock.CalculatorGraph(GRAPH) as graph,
        penstock_live.serve(graph) as page,
        penstock_metrics.serve(graph, token=TOKEN) as metrics,
    ):
        end.send((page.url, metrics.url, metrics.port))
        with suppress(EOFError):
            end.recv()


def asked(url: str, token: str = "") -> float:
    """Return how long the owner waits for an answer."""
    begin = time.monotonic()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urlopen(Request(url, headers=headers), timeout=30) as answer:  # noqa: S310  # of this process
        answer.read()
    return time.monotonic() - begin


@click.command(help=__doc__)
@click.option("--seconds", default=60.0)
@click.option("--seed", default=0)
@click.option("--warm", default=300, help="Connections before the first look at the memory.")
def main(seconds: float, seed: int, warm: int) -> None:
    """Attack both servers, and print what was found; every ten seconds, memory, threads and descriptors."""
    chance = random.Random(seed)  # noqa: S311  # a trial's order
    findings: list[str] = []
    count = 0
    end, theirs = Pipe()
    process = get_context("spawn").Process(target=serve, args=(theirs,))
    process.start()
    theirs.close()
    pid = process.pid or 0
    try:
        if not end.poll(START_S):
            raise click.ClickException(f"the servers did not start in {START_S} s")
        page, metrics, metrics_port = end.recv()
        port = int(page.partition("//")[2].partition("/")[0].rpartition(":")[2])
        for _ in range(
            warm
        ):  # until caches are warm, and the allocator has what many connections at once take
            attack(chance, chance.choice((port, port, metrics_port)))
        asked(page)
        asked(metrics, TOKEN)
        time.sleep(3)
        before = state(pid)
        used_before, began = processor_time(pid), time.monotonic()
        last, next_look = time.monotonic() + seconds, time.monotonic() + 10
        while time.monotonic() < last:
            count += 1
            if found := attack(chance, chance.choice((port, port, metrics_port))):
                findings.append(found)
            if time.monotonic() > next_look:
                next_look += 10
                share = (processor_time(pid) - used_before) / (time.monotonic() - began)
                click.echo(f"{count} connections, {state(pid)}, {share:.1%} of a processor", err=True)
                waited = max(asked(page), asked(metrics, TOKEN))
                if waited > PATIENCE_S:
                    findings.append(f"the owner waited {waited:.1f} s after {count} requests")
        share = (processor_time(pid) - used_before) / (time.monotonic() - began)
        time.sleep(12)  # until slow connections are closed
        after = state(pid)
    finally:
        end.close()
        process.join(START_S)
        process.kill()
    if after[0] - before[0] > MOST_MIB or after[2] > before[2] + 2:
        findings.append(f"memory, threads, descriptors were {before}, and are {after}")
    if share > MOST_SHARE:
        findings.append(f"the servers took {share:.1%} of a processor")
    click.echo(
        f"{count} connections, {before} before, {after} after, {share:.1%} of a processor, "
        f"{len(findings)} findings"
    )
    for one in findings[:20]:
        click.echo(one)
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()

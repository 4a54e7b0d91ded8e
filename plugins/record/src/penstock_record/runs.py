"""What the commands do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from penstock.access import current
from penstock.config import CalculatorGraphConfig, read_graph
from penstock.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, PenstockError
from penstock.packs import default_registry
from penstock_cli.api import (
    FileMissing,
    RunFailed,
    WrongUsage,
    amount,
    check_target_file,
    existing_file,
    plural,
    registry_with_subgraphs,
    run_file,
    say,
)
from penstock_record.diff import differences
from penstock_record.options import Compression, Pictures
from penstock_record.recording_graphs import all_streams, recording_graph, replay_changes, replay_graph
from penstock_record.recording_reader import About, RecordingReader
from penstock_record.recording_writer import PACKET, SIDE
from penstock_record.repair import repair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from penstock import CalculatorGraph
    from penstock_cli.api import Manner


def record(  # noqa: PLR0913, PLR0917  # the options of the command
    graph: Path,
    out: Path,
    streams: Sequence[str] | None,
    keep: Sequence[str],
    sides: Mapping[str, object],
    manner: Manner,
    *,
    everything: bool,
    compress: str | None,
    pictures: str,
) -> None:
    """Run a graph file and record it. Raises as `run_file`, and WrongUsage for unknown streams."""
    _check_new(out)

    def change(file: Path) -> CalculatorGraphConfig:
        registry = registry_with_subgraphs(file)
        wanted = all_streams(read_graph(file, registry)) if everything else streams
        try:
            compression = None if compress is None else Compression(compress)
            return recording_graph(
                file,
                out,
                wanted,
                side_packets=keep,
                compression=compression,
                pictures=Pictures(pictures),
                registry=registry,
            )
        except (NotFoundError, InvalidArgumentError) as error:
            raise WrongUsage(f"{file}: {error}") from error

    run_file(graph, sides, manner, change=change)
    if not manner.quiet:
        say(f"recording: {out} ({amount(out.stat().st_size)})")


def replay(  # noqa: PLR0913  # the options of the command
    recording: Path,
    graph: Path | None,
    streams: Sequence[str] | None,
    sides: Mapping[str, object],
    manner: Manner,
    *,
    speed: float,
    out: Path | None,
    pictures: str,
) -> None:
    """Run a graph on a recording. Raises as `run_file`, and WrongUsage for streams that do not fit."""
    existing_file(recording, "recording")
    if out is not None:
        _check_new(out)

    def change(file: Path) -> CalculatorGraphConfig:
        registry = registry_with_subgraphs(file)
        try:
            source = None if graph is None else existing_file(graph, "graph file")
            made = replay_graph(source, recording, streams, speed=speed, registry=registry)
            if out is None:
                return made
            return recording_graph(
                made,
                out,
                [name for name in _about(recording).streams if name in all_streams(made)],
                pictures=Pictures(pictures),
                registry=registry,
            )
        except (NotFoundError, InvalidArgumentError) as error:
            raise WrongUsage(str(error)) from error

    def prepare(loaded: CalculatorGraph) -> None:
        try:
            replay_changes(loaded, recording)
        except PenstockError as error:
            raise WrongUsage(
                f"{recording}: a change of the recorded run does not fit the graph: {error}"
            ) from error

    if not _has_packets(recording):
        say(f"warning: {recording} has no packets; nothing is played")
    given = {**_sides(recording, change(graph or recording)), **sides}
    lossy = _about(recording).lossy if not manner.quiet else ""
    if lossy:
        say(f"{recording}: images were recorded as {lossy}, which is lossy; results may differ")
    run_file(graph or recording, given, manner, change=change, prepare=prepare)
    if out is not None and not manner.quiet:
        say(f"recording: {out} ({amount(out.stat().st_size)})")


def _check_new(out: Path) -> None:
    """Refuse a file that cannot be written, or may not be replaced, before the graph is loaded."""
    check_target_file(out, "recording")
    try:
        current().writing(out)
    except AlreadyExistsError as error:
        raise WrongUsage(
            f"the run cannot be recorded in {str(out)!r}: the file exists; name another one, or add "
            "--force, which replaces it"
        ) from error


def _about(recording: Path) -> About:
    with RecordingReader(recording, default_registry(), is_cut=True) as reader:
        return reader.about


def _has_packets(recording: Path) -> bool:
    try:
        with RecordingReader(recording, default_registry(), is_cut=True) as reader:
            return any(event.kind == PACKET for event in reader.events(decoded=()))
    except InvalidArgumentError:  # the run says what is wrong with the file
        return True


def _sides(recording: Path, config: CalculatorGraphConfig) -> dict[str, Any]:
    """Return the recorded side packets that a graph takes."""
    wanted = {entry.rpartition(":")[2] for entry in config.input_side_packet}
    found: dict[str, Any] = {}
    with RecordingReader(recording, default_registry(), is_cut=True) as reader:
        for event in reader.events(decoded=(SIDE,)):
            if event.kind != SIDE:  # they come first
                break
            if event.stream in wanted:
                found[event.stream] = event.payload
    return found


def show_differences(
    first: Path,
    second: Path,
    streams: Sequence[str] | None,
    tolerances: Mapping[str, float],
    *,
    is_json: bool,
) -> bool:
    """Print how two recordings differ; return whether they do.

    Raises:
        WrongUsage: a stream, or a file that is no recording.
        FileMissing: a file cannot be read.
    """
    files = [existing_file(file, "recording") for file in (first, second)]
    try:
        found = differences(*files, streams=streams, tolerances=tolerances)
    except (NotFoundError, InvalidArgumentError) as error:
        raise WrongUsage(str(error)) from error
    except OSError as error:
        raise FileMissing(str(error)) from error
    if is_json:
        click.echo(json.dumps([{"stream": one.stream, "difference": one.words} for one in found], indent=2))
    else:
        for one in found:
            click.echo(f"{one.stream}: {one.words}")
        count = "1 stream differs" if len(found) == 1 else f"{len(found)} streams differ"
        say(count if found else "the packets are the same")
    return bool(found)


def show_repair(recording: Path, out: Path | None) -> None:
    """Repair a recording, and say what was saved.

    Raises:
        WrongUsage: it is no recording.
        FileMissing: a file cannot be read or written.
        RunFailed: nothing was saved.
    """
    existing_file(recording, "recording")
    if out is not None:
        check_target_file(out, "recording")
    try:
        done = repair(recording, out)
    except InvalidArgumentError as error:
        raise WrongUsage(str(error)) from error
    except OSError as error:
        raise FileMissing(str(error)) from error
    if done.was_whole:
        say(f"{recording} is whole: {plural(done.packets, 'packet')}")
    elif not done.packets:
        raise RunFailed(
            f"{recording}: nothing of this run can be saved: no packet was on the disk when the process ended"
        )
    else:
        left = (
            "1 packet whose time is lost was"
            if done.lost == 1
            else f"{done.lost} packets whose times are lost were"
        )
        lost = f"; {left} left out" if done.lost else ""
        say(f"{out or recording} has {plural(done.packets, 'packet')}{lost}")

"""`penstock run GRAPH --each FILES`: one run of the graph for each file, in processes of their own.

The processes are `penstock run` themselves: a graph that crashes its process costs one file, and Python code
of several graphs runs at the same time. This process loads the graph first, so that what is wrong with it is
reported once.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from penstock_cli.access_options import words_again
from penstock_cli.byte_size import half_of_memory
from penstock_cli.failures import FileMissing, RunFailed, WrongUsage
from penstock_cli.loading import name_in
from penstock_cli.options import IMPORTS
from penstock_cli.running_command import RunningCommand
from penstock_cli.runs.each_report import as_json, print_table, watching
from penstock_cli.runs.jobs import Job, run_jobs
from penstock_cli.runs.run import loaded
from penstock_cli.runs.side_values import read_sides
from penstock_cli.saying import say
from penstock_cli.subgraph_files import GIVEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock import CalculatorGraph
    from penstock_cli.runs.jobs import Ended
    from penstock_cli.runs.manner import Manner

#: What stands for a part of a file's path in the values of side packets.
_PARTS: Final[dict[str, Callable[[Path], str]]] = {
    "{file}": str,
    "{name}": lambda path: path.name,
    "{stem}": lambda path: path.stem,
    "{folder}": lambda path: str(path.parent),
}


def run_each(
    graph: Path, patterns: Sequence[str], jobs: int | None, given: Sequence[str], manner: Manner
) -> None:
    """Run a graph once for each file; print a table, or JSON.

    Args:
        graph: the graph file.
        patterns: values of `--each`.
        jobs: how many runs at a time; None for one.
        given: values of `--side`, which may have the words in braces.
        manner: how the runs are shown.

    Raises:
        click.ClickException: the graph cannot be loaded, there is no file, or the side packets do not say
            which of them takes the file. No run has been started.
        click.exceptions.Exit: the table is printed, but a run failed or was interrupted, or two
            runs wrote one file.
    """
    if not patterns:
        raise click.UsageError(
            "without --each FILES there is one run, which uses the threads that its graph names; add --each, "
            "or leave out --jobs"
        )
    at_once = jobs or 1
    files = found_files(patterns)
    with manner.log_said():
        names = _unfilled(loaded(graph, read_sides(given), manner), given)
    sides = sides_of(files, given, names)
    words = ["run", str(graph), "--json", "--no-progress", *_words_of(manner, at_once)]
    work = [Job(file, (*words, *(f"--side={side}" for side in sides[file]))) for file in files]
    is_shown = manner.progress and not manner.quiet
    with watching(len(work), is_shown=is_shown, says_errors=not manner.as_json) as watch:
        code = run_jobs(work, at_once, watch)
    order = {file: number for number, file in enumerate(files)}
    ended = sorted(watch.ended, key=lambda one: order[one.file])
    if manner.as_json:
        click.echo(as_json(ended))
    elif not manner.quiet:
        print_table(ended)
    if overwritten := _written_twice(ended):
        say(
            f"error: {', '.join(overwritten)} was written by several runs, and has the result of the last; "
            "name a file of its own for each, such as --side output_video=out/{stem}.mp4"
        )
    if code or overwritten:
        raise click.exceptions.Exit(code or RunFailed.exit_code)


def refuse_what_is_for_one(context: click.Context) -> None:
    """Refuse options that follow a single run: `--trace`, and what plugins have added.

    Raises:
        click.UsageError: one of them was given; names it.
    """
    command = context.command
    of_one = {"trace", *(command.added if isinstance(command, RunningCommand) else ())}
    for param in command.params:
        is_given = context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
        if param.name in of_one and is_given:
            raise click.UsageError(f"{param.opts[0]} cannot go with --each: each file has a run of its own")


def found_files(patterns: Iterable[str]) -> list[Path]:
    """Return the files that patterns name, each once, in the order of the patterns and of their names.

    Raises:
        FileMissing: a pattern matches no file; says what to write.
    """
    files: dict[Path, None] = {}
    for pattern in patterns:
        files.update(dict.fromkeys(_files_of(pattern)))
    return list(files)


def _files_of(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        example = path / "*.mp4"
        raise FileMissing(f"--each {pattern}: is a directory; write a pattern, such as '{example}'")
    is_pattern = has_magic(pattern) and not path.exists()
    paths = sorted(glob(pattern, recursive=True)) if is_pattern else [pattern]  # noqa: PTH207  # takes ".." too
    found = [one for one in map(Path, paths) if one.is_file()]
    if not found:
        what = "matches no file" if is_pattern else "there is no such file"
        raise FileMissing(f"--each {pattern}: {what} (searched in {str(Path.cwd())!r})")
    return found


def sides_of(files: Iterable[Path], given: Iterable[str], unfilled: Sequence[str]) -> dict[Path, list[str]]:
    """Return for each file its values of `--side`.

    Args:
        files: the files.
        given: the values, with words in braces.
        unfilled: the side packets of the graph that have no value. Where no value has the path of the file,
            and there is just one of them, that gets it.

    Raises:
        WrongUsage: it is not clear which side packet takes the file, or two files give a side packet with a
            word in braces the same value, so that one run would overwrite what another has written. A file
            that exists may be shared: the runs read it.
    """
    given = list(given)
    if not any("{file}" in one for one in given):
        if len(unfilled) != 1:
            there = ", ".join(map(repr, unfilled)) or "none that has no value"
            raise WrongUsage(
                "--each: say which side packet takes the path of the file, such as --side "
                f"{(*unfilled, 'input_video')[0]}={{file}} (the graph has: {there})"
            )
        given.append(f"{unfilled[0]}={{file}}")
    found: dict[Path, list[str]] = {}
    taken: dict[str, Path] = {}
    for file in files:
        found[file] = [_filled(one, file) for one in given]
        for written, value in zip(given, found[file], strict=True):
            is_own = written == value or "{file}" in written or _is_there(value)
            if not is_own and taken.setdefault(value, file) != file:
                raise WrongUsage(
                    f"--each: {str(taken[value])!r} and {str(file)!r} give the same --side {value}; use "
                    "{file}, {name} or {folder} too"
                )
    return found


def _written_twice(ended: Iterable[Ended]) -> list[str]:
    """Return the files that more than one run has written."""
    counts = Counter(file["path"] for one in ended for file in (one.summary or {}).get("files", ()))
    return [path for path, count in counts.items() if count > 1]


def _is_there(side: str) -> bool:
    """Return whether a value of `--side` that was filled in names a file or directory that exists."""
    return Path(json.loads(side.partition("=")[2])).exists()


def _filled(side: str, file: Path) -> str:
    """Return a value of `--side` with the parts of a path in place of the words in braces."""
    name, equals, value = side.partition("=")
    filled = value
    for word, part in _PARTS.items():
        filled = filled.replace(word, part(file))
    # JSON: a file that is called "3" or "true" stays a str.
    return side if filled == value else f"{name}{equals}{json.dumps(filled)}"


def _unfilled(graph: CalculatorGraph, given: Iterable[str]) -> list[str]:
    """Return the side packets that the graph reads, no node makes and no value is given for."""
    from penstock.config import CalculatorGraphConfig  # imports protobuf

    config = CalculatorGraphConfig.FromString(graph.binary_config)
    read = [*config.input_side_packet, *(entry for node in config.node for entry in node.input_side_packet)]
    made = {name_in(entry) for node in config.node for entry in node.output_side_packet}
    return sorted({name_in(entry) for entry in read} - made - set(read_sides(given)))


def _words_of(manner: Manner, jobs: int) -> list[str]:
    """Return the options that each run gets of the command's own."""
    context = click.get_current_context()
    meta = context.meta
    words = [f"--import={each}" for each in meta.get(IMPORTS, ())]
    words += words_again(context.params)
    words += [f"--subgraph={name}={file}" for name, file in meta.get(GIVEN, {}).items()]
    if manner.timeout_s is not None:
        words.append(f"--timeout={manner.timeout_s}")
    if manner.quiet:
        words.append("--quiet")
    if manner.strict:
        words.append("--strict")
    if manner.log_level is not None:
        words.append(f"--log-level={logging.getLevelName(manner.log_level).lower()}")
    asked: float | None = context.params["max_memory"]
    limit = half_of_memory() / jobs if asked is None else asked
    words.append("--max-memory=" + ("none" if limit == float("inf") else f"{int(limit)}"))
    return words

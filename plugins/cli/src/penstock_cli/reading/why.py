"""`penstock why`: runs a graph file, and tells why the run ended or stood still."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from penstock import GraphConfigError, GraphRunError
from penstock_cli.exit_codes import INTERRUPTED
from penstock_cli.failures import RunFailed
from penstock_cli.runs.notes import lost
from penstock_cli.runs.progress import display_for
from penstock_cli.runs.run import loaded, unfit
from penstock_cli.runs.trace import traced
from penstock_cli.runs.watch import Moment, RunStopped, run_to_end

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from penstock import CalculatorGraph
    from penstock.explain import Wait
    from penstock_cli.runs.manner import Manner

#: How a run came to its end.
ENDED: Final = "ended"
FAILED: Final = "failed"
STOPPED: Final = "stopped"
INTERRUPT: Final = "interrupted"

_CODES: Final = {ENDED: 0, FAILED: RunFailed.exit_code, STOPPED: RunFailed.exit_code, INTERRUPT: INTERRUPTED}


@dataclass(frozen=True)
class Answer:
    """Why a run ended, or did not go on."""

    #: `ENDED`, `FAILED`, `STOPPED` (by a limit of the command) or `INTERRUPT`.
    end: str
    #: The run at its end; of one that was stopped or interrupted, just before.
    moment: Moment
    #: Which limit stopped it; "" for other ends.
    reason: str = ""
    #: The exit code for the signal that ended it; 0 for other ends.
    exit_code: int = 0


def explain_file(path: Path, sides: Mapping[str, object], manner: Manner, still_s: float) -> None:
    """Run a graph file, print why it ended or stood still, and exit with the code for that.

    Args:
        path: the file.
        sides: its side packets, name → payload.
        manner: how the run is shown. Of a quiet run that ended by itself nothing is printed.
        still_s: seconds after which a run that does nothing stands still.

    Raises:
        click.ClickException: the graph cannot be read, loaded or fed.
        click.exceptions.Exit: the run did not end by itself, or something was lost on a strict run.
    """
    with manner.log_said():
        graph = loaded(path, sides, manner)
        with traced(graph, manner.trace, quiet=manner.quiet):
            answer = _answer(graph, sides, manner, still_s)
    code = answer.exit_code or _CODES[answer.end]
    if manner.strict and _losses(answer.moment):
        code = code or RunFailed.exit_code
    if manner.as_json:
        click.echo(as_json(answer))
    elif code or not manner.quiet:
        for line in words(answer):
            click.echo(line)
    if code:
        raise click.exceptions.Exit(code)


def _answer(graph: CalculatorGraph, sides: Mapping[str, object], manner: Manner, still_s: float) -> Answer:
    display = display_for(wanted=manner.progress and not manner.quiet)
    try:
        outcome = run_to_end(graph, sides, display, timeout_s=manner.timeout_s, still_s=still_s)
    except GraphConfigError as error:
        raise unfit(error, sides) from error
    except RunStopped as stopped:
        return Answer(STOPPED, stopped.moment, stopped.reason)
    except GraphRunError:  # the answer has its errors
        return Answer(FAILED, Moment.of(graph))
    if outcome.interrupted_at is not None:
        return Answer(INTERRUPT, outcome.interrupted_at, exit_code=outcome.exit_code)
    return Answer(ENDED, Moment(outcome.snapshot, outcome.ledger, outcome.why))


def words(answer: Answer) -> list[str]:
    """Return the answer as lines."""
    moment = answer.moment
    lines = [answer.reason] if answer.reason else []
    lines += str(moment.why).splitlines()
    lines += [f"  {one}" for one in lost(moment.snapshot, moment.ledger)]
    if not (moment.ledger.drops or moment.ledger.cuts):
        lines.append("  no packet was dropped, and nothing was cut from lists")
    return lines


def as_json(answer: Answer) -> str:
    """Return the answer as a JSON object.

    `end` is "ended", "failed", "stopped" or "interrupted"; `reason` says which limit stopped the run. `waits`
    have node, state, packets held and the chain of what each waits for, as far as the culprit; `drops` and
    `cuts` have stream, place, reason and count. `notes` are drops and nodes that never ran, as text.
    """
    moment = answer.moment
    why = moment.why
    said: dict[str, Any] = {
        "end": answer.end,
        "reason": answer.reason,
        "text": str(why),
        "errors": list(why.errors),
        "stopped_by": why.stopped_by,
        "waits": [_wait(one) for one in why.waits],
        "calls": [str(call) for call in why.calls],
        "drops": [_entry(one) for one in moment.ledger.drops],
        "cuts": [_entry(one) for one in moment.ledger.cuts],
        "notes": lost(moment.snapshot, moment.ledger),
    }
    return json.dumps(said, indent=2)


def _wait(wait: Wait) -> dict[str, Any]:
    links = [
        {"kind": link.kind, "node": link.node, "stream": link.stream, "text": link.text}
        for link in wait.chain
    ]
    return {"node": wait.node, "state": wait.state, "held": wait.held, "chain": links}


def _entry(one: Any) -> dict[str, Any]:
    """Return a drop or a cut as data."""
    return {"stream": one.stream, "place": one.place, "reason": one.reason, "count": one.count}


def _losses(moment: Moment) -> bool:
    return bool(lost(moment.snapshot, moment.ledger) or moment.ledger.cuts)

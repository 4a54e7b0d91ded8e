"""Write the reference of the calculators: an index of all, which git holds, and a page for each.

    python scripts/reference_pages.py            write the index and the pages
    python scripts/reference_pages.py --check    exit 1 where the index is stale or a page cannot be made

Both are in docs/reference/calculators: README.md is the index, and git ignores the pages. The documentation's
build writes the pages before it reads its sources (docs/conf.py).

A page is what `penstock show` knows (ports, options, policy, example), a picture of what the node of the
example took and sent where that can be drawn, as an SVG file beside the page (`page_pictures`), and a
timeline: what the node did with a few packets. Both are recorded in runs on one thread. Pages and pictures
depend only on the packs, so the same packs give the same bytes.

Needs the standard packs installed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from penstock.config import CalculatorGraphConfig, build_plan, read_graph
from penstock.plugins.default_registry import default_registry
from penstock.registry import official_packs
from penstock_testing.timeline import draw, record
from penstock_views.describe import describe

# Found beside this file, not installed.
sys.path.insert(0, str(Path(__file__).resolve().parent))
from calculator_groups import GROUPS
from drawing.page_pictures import WITHOUT_PICTURE, has_picture, picture_of
from drawing.timeline_feeds import WITHOUT_TIMELINE, feed_of, headers_of, side_packets_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from penstock.plan import Plan
    from penstock.registry import Registry
    from penstock_views.describe import Description, OptionField, OptionMessage, PortInfo

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = ROOT / "docs" / "reference" / "calculators"
#: The one file there that git holds.
INDEX: Final = "README.md"

_INTRO: Final = (
    "All calculators of the standard packs, by pack and purpose. `penstock show NAME` prints everything\n"
    "about one: ports, options, policy, an example."
)
#: Said where the index has no links to the pages.
_PAGES_ELSEWHERE: Final = (
    "The documentation has a page for each: `uv run --group docs sphinx-build docs docs/_build/html`."
)
#: What stands before the name of a class in the name of a type.
_MODULES: Final = re.compile(r"\b(?:[a-z_][\w]*\.)+(?=[A-Za-z_])")
#: A name in the first column of the index.
_NAME: Final = re.compile(r"^\| `(?P<name>\w+)` \|", re.MULTILINE)

_PORTS: Final = {
    "inputs": "Input streams",
    "outputs": "Output streams",
    "input_side_packets": "Input side packets",
    "output_side_packets": "Output side packets",
}
_CHOSEN: Final = {
    "calculator": "asked for by the calculator",
    "example": "as in the example",
    "default": "the default",
}
#: What a picture shows, for screen readers.
_SHOWN: Final = "inputs and outputs of {}, drawn from a run"
_LEGEND: Final = (
    "What the node of the example did with a few packets. A dot is a settled timestamp without packet, a bar "
    "the bound when all had been fed, `]` a stream that had ended by then; what came only after the inputs "
    "had closed stands in brackets; `#1` is a payload that is no plain value."
)


# --- a page ---------------------------------------------------------------------------------------


def page(name: str, registry: Registry) -> str:
    """Return the page of a calculator."""
    description = describe(name, registry)
    plan = build_plan(alone(description, registry), registry)
    parts = [f"# {name}", description.summary, f"Distribution: `{description.distribution}`."]
    if has_picture(name, description.distribution, plan):
        parts += [
            "What the node of the example below takes and sends:",
            f"![{_SHOWN.format(name)}]({name}.svg)",
        ]
    for attribute, heading in _PORTS.items():
        ports = getattr(description, attribute)
        if ports:
            parts += [f"## {heading}", _port_table(ports)]
    if description.ports_unknown:
        parts.append(f"Its ports are not known: {description.ports_unknown}.")
    parts += ["## Behaviour", "\n".join(_facts(description))]
    if description.options:
        parts.append("## Options")
        for message in description.options:
            parts += list(_options(message))
    if description.body:
        parts += ["## Description", _markdown(description.body)]
    if description.example:
        parts += ["## Example", _block(description.example)]
    if name in WITHOUT_PICTURE:
        parts += ["## Picture", f"None: {WITHOUT_PICTURE[name]}."]
    parts += ["## Timeline", *_timeline(description, plan)]
    return "\n\n".join(parts) + "\n"


def _port_table(ports: Sequence[PortInfo]) -> str:
    rows = []
    for port in ports:
        said = ["optional"] * port.optional + ["may be repeated"] * port.repeats
        said += [port.description] if port.description else []
        rows.append((f"`{port.name}`", f"`{_short(port.type)}`", "; ".join(said)))
    return _table(("port", "type", "what it is"), rows)


def _short(kind: str) -> str:
    """Return a type without the modules of its names: `list[Detection]`."""
    return _MODULES.sub("", kind)


def _facts(description: Description) -> Iterator[str]:
    if description.input_policy is not None and description.inputs:
        chosen = _CHOSEN[description.input_policy.chosen_by]
        yield f"- Input policy: `{description.input_policy.name}` ({chosen})."
    offset = description.timestamp_offset
    yield f"- Timestamp offset: {'none declared' if offset is None else f'{offset} µs'}."
    if description.processes_bounds:
        yield "- Runs also at settled timestamps without packets."
    for service in description.services:
        yield f"- Uses the service {service}."


def _options(message: OptionMessage) -> Iterator[str]:
    extension = "" if message.extension is None else f", extension {message.extension}"
    yield f"`{message.name}`{extension}. {message.description}".strip()
    if message.fields:
        yield _table(("field", "type", "default", "what it is"), [_field(field) for field in message.fields])


def _field(field: OptionField) -> tuple[str, str, str, str]:
    short = field.type.rpartition(".")[2]
    kind = f"repeated {short}" if field.repeated else short
    default = "" if field.repeated else "not set"
    if field.required:
        default = "required"
    elif field.default is not None:
        default = f"`{field.default}`"
    said = [field.description] if field.description else []
    said += [f"One of `{field.oneof}`."] if field.oneof else []
    said += [f"`{one.name}`{f': {one.description}' if one.description else ''}" for one in field.choices]
    return f"`{field.name}` (field {field.number})", f"`{kind}`", default, "<br>".join(said)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown(body: str) -> str:
    """Return a docstring as Markdown: what is indented behind `::` becomes a block of its own."""
    lines: list[str] = []
    is_block = False
    for line in body.splitlines():
        if is_block and line and not line.startswith("    "):
            while lines and not lines[-1]:
                lines.pop()
            lines += ["```", ""]
            is_block = False
        lines.append(line[4:] if is_block else line.replace("<", "\\<") if "`" not in line else line)
        if line.endswith("::") and not is_block:
            lines[-1] = line[:-1]
            lines += ["", "```text"]
            is_block = True
    if is_block:
        lines.append("```")
    return "\n".join(lines).replace("```text\n\n", "```text\n")


def _block(text: str, language: str = "protobuf") -> str:
    return f"```{language}\n{text}\n```"


# --- the timeline ---------------------------------------------------------------------------------


def _timeline(description: Description, plan: Plan) -> Iterator[str]:
    reason = WITHOUT_TIMELINE.get(description.name)
    if reason is not None:
        yield f"None: {reason}."
        return
    feed, headers = feed_of(description.name, plan), headers_of(description.name, plan)
    rows = record(plan, feed, side_packets_of(plan), headers)
    if not rows:
        yield "None: it has no streams."
        return
    yield _LEGEND
    yield _block(draw(rows), "text")


def alone(description: Description, registry: Registry) -> Any:
    """Return a graph of the example's node, whose inputs are graph inputs."""
    node = read_graph(description.example, registry).node[0]
    names = dict.fromkeys(entry.rpartition(":")[2] for entry in node.input_stream)
    return CalculatorGraphConfig(node=[node], input_stream=list(names))


# --- all pages ------------------------------------------------------------------------------------


class PageError(Exception):
    """A page cannot be made; names the calculator, and has what went wrong as its cause."""


def pages() -> dict[str, str]:
    """Return file name → text of each page.

    Raises:
        PageError: a page cannot be made.
    """
    with _without_gpu():
        registry = default_registry()
        return {f"{name}.md": _made(name, registry) for name in _names()}


def pictures() -> dict[str, str]:
    """Return file name → SVG document of each picture; the pages link to them.

    Raises:
        PageError: a picture cannot be made.
    """
    with _without_gpu():
        registry = default_registry()
        drawn = {f"{name}.svg": _drawn(name, registry) for name in _names()}
        return {name: picture for name, picture in drawn.items() if picture is not None}


def index() -> str:
    """Return the text of the index: for each pack and purpose a table with a line for each calculator.

    Raises:
        GroupError: a calculator has no purpose, or a pattern of a group is of no calculator that is left.
    """
    registry = default_registry()
    described = {name: describe(name, registry) for name in _names()}
    packs = {name: description.distribution for name, description in described.items()}
    parts = ["# Calculators", _INTRO, _PAGES_ELSEWHERE]
    for pack, purposes in grouped(packs).items():
        parts.append(f"## {pack}")
        for purpose, names in purposes.items():
            rows = [(f"`{name}`", described[name].summary) for name in names]
            parts += [f"### {purpose}", _table(("calculator", "what it does"), rows)]
    return "\n\n".join(parts) + "\n"


class GroupError(Exception):
    """`calculator_groups` and the calculators of the packs do not agree; says which."""


def grouped(packs: Mapping[str, str | None]) -> dict[str, dict[str, list[str]]]:
    """Return distribution → purpose → names, as `GROUPS` has them.

    Args:
        packs: name of a calculator → its distribution.

    Raises:
        GroupError: a calculator has no purpose, or a pattern of a group is of no calculator that is left.
    """
    left = sorted(packs)
    found: dict[str, dict[str, list[str]]] = {}
    for pack, purposes in GROUPS.items():
        for purpose, patterns in purposes.items():
            names = [name for name in left if packs[name] == pack and _is_among(name, patterns)]
            empty = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]
            if empty:
                raise GroupError(
                    f"no calculator {empty[0]!r} is left for {purpose!r} of {pack}; it is gone, or another "
                    "group has it: mend scripts/calculator_groups.py"
                )
            found.setdefault(pack, {})[purpose] = names
            left = [name for name in left if name not in names]
    if left:
        raise GroupError(f"{left[0]} has no purpose; add it to a group in scripts/calculator_groups.py")
    return found


def _is_among(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def with_links(text: str) -> str:
    """Return the index with a link to its page in place of each name, for where the pages are."""
    return _NAME.sub(r"| [\g<name>](\g<name>.md) |", text.replace(f"{_PAGES_ELSEWHERE}\n\n", ""))


def write_pages(folder: Path) -> None:
    """Write each page and picture into a folder, and remove those of calculators that are gone.

    A page that has not changed is left alone, so that a build does not read it again.

    Raises:
        PageError: a page or a picture cannot be made; nothing was written.
    """
    wanted = {**pages(), **pictures()}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in wanted.items():
        _write(folder / name, text)
    for file in (*folder.glob("*.md"), *folder.glob("*.svg")):
        if file.name not in wanted and file.name != INDEX:
            file.unlink()


def _names() -> list[str]:
    return sorted(official_packs()["calculator"])


def _without_gpu() -> AbstractContextManager[Any]:
    # A page is the same on every machine, so nothing is drawn with OpenGL.
    return patch.dict(os.environ, {"PENSTOCK_GPU": "off"})


def _made(name: str, registry: Registry) -> str:
    try:
        return page(name, registry)
    except Exception as error:
        raise PageError(f"the page of {name} cannot be made: {type(error).__name__}: {error}") from error


def _drawn(name: str, registry: Registry) -> str | None:
    """Return the picture of a calculator; None where it has none."""
    try:
        description = describe(name, registry)
        plan = build_plan(alone(description, registry), registry)
        return picture_of(name, plan) if has_picture(name, description.distribution, plan) else None
    except Exception as error:
        raise PageError(f"the picture of {name} cannot be made: {type(error).__name__}: {error}") from error


def _write(file: Path, text: str) -> None:
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8", newline="\n")


def _fault(folder: Path) -> str | None:
    """Return what is wrong with the index in a folder or with a page, or None."""
    try:
        pages()
        pictures()
        wanted = index()
    except (PageError, GroupError) as error:
        return str(error)
    file = folder / INDEX
    if not file.exists():
        return f"{INDEX} is missing; run: python scripts/reference_pages.py"
    if file.read_text(encoding="utf-8") != wanted:
        return f"{INDEX} is stale; run: python scripts/reference_pages.py"
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the index and the pages, or check them; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the index of the calculators, and a page for each.")
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit 1 where the index is stale or a page cannot be made",
    )
    parser.add_argument("--folder", type=Path, default=PAGES, help="where they are; default: this checkout's")
    options = parser.parse_args(arguments)
    if options.check:
        fault = _fault(options.folder)
        if fault is not None:
            print(fault)
        return int(fault is not None)
    try:
        write_pages(options.folder)
        _write(options.folder / INDEX, index())
    except (PageError, GroupError) as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`penstock list`: the names that graphs can use, and the distribution that provides each.

It imports only the plugins' own small modules, except with `described`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from cmd import Cmd
from dataclasses import asdict, dataclass, replace
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import NameClashError, PenstockError
from penstock.error_text import near_names
from penstock.packs import KINDS, official_packs
from penstock_cli.failures import WrongUsage
from penstock_cli.saying import say
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from penstock import Registry

#: A kind as the command line takes it → as the registry names it.
KIND_OF: Final = {kind.replace(" ", "-"): kind for kind in KINDS}
#: One word of a name in camel case.
_WORD: Final = re.compile("[A-Z]+[a-z0-9]*")
#: Wider lines are hard to read.
_WIDEST: Final = 120


@dataclass(frozen=True)
class Component:
    """One name that graphs can use."""

    #: `name`, `kind`: as the registry has them.
    name: str
    kind: str
    #: `distribution`, `plugin`: that provide it; None for names that this process registered.
    distribution: str | None
    plugin: str | None
    #: The "module:attribute" behind the name.
    target: str
    #: Why it cannot be used; None where no problem is known.
    problem: str | None = None
    #: The first paragraph of its docstring; None where it was not requested.
    summary: str | None = None
    #: The module or file of `--import` that registered it; None for others.
    source: str | None = None

    @property
    def provider(self) -> str | None:
        """The distribution, or the imported module or file; None for other names of this process."""
        return self.distribution or self.source


def components(registry: Registry, imported: Mapping[tuple[str, str], str] | None = None) -> list[Component]:
    """Return all names of a registry: by kind, then distribution or source, then name.

    Args:
        registry: has the names.
        imported: kind and name → the module or file of `--import` that registered it; None for none.
    """
    found = [
        replace(_component(registry, kind, name), source=(imported or {}).get((kind, name)))
        for kind in KINDS
        for name in registry.names(kind)
    ]
    kinds = list(KINDS)
    return sorted(found, key=lambda one: (kinds.index(one.kind), one.provider or "", one.name))


def chosen(
    all_of_them: Sequence[Component],
    registry: Registry,
    word: str | None,
    kinds: Collection[str],
    pack: str | None,
) -> list[Component]:
    """Return the components that the user selects.

    Args:
        all_of_them: all components.
        registry: where they come from; it gives the hints for a word that no name contains.
        word: a part of the name, in upper or lower case; None for all.
        kinds: as the registry has them; empty for all.
        pack: name of a plugin or distribution; None for all.

    Raises:
        WrongUsage: there is no such pack, or no name contains the word; suggests similar ones.
    """
    if pack is not None:
        _check_pack(pack, all_of_them)
    fits = _holds(word)
    found = [
        one
        for one in all_of_them
        if fits(one.name)
        and (not kinds or one.kind in kinds)
        and (pack is None or pack in (one.plugin, one.distribution))
    ]
    if word is not None and not any(fits(one.name) for one in all_of_them):
        if is_pack(word, all_of_them):
            raise WrongUsage(
                f"no component's name contains {word!r}; that is a pack: penstock list --pack {word}"
            )
        raise WrongUsage(_unknown(word, all_of_them, registry))
    return found


def is_pack(word: str, there: Iterable[Component]) -> bool:
    """Return whether a word is the name of a plugin or distribution that provides names."""
    return any(word in (one.plugin, one.distribution) for one in there)


def described(found: Iterable[Component], registry: Registry) -> list[Component]:
    """Return the same with their summaries. Imports each; one that cannot be imported gets a `problem`."""
    from penstock_views.describe import describe  # imports protobuf

    def with_summary(one: Component) -> Component:
        if one.problem is not None:
            return replace(one, summary="")
        try:
            return replace(one, summary=describe(one.name, registry, one.kind).summary)
        except PenstockError as error:
            return replace(one, problem=str(error), summary="")

    return [with_summary(one) for one in found]


def as_json(found: Iterable[Component]) -> str:
    """Return a JSON list of objects, their fields those of `Component`."""
    return json.dumps([asdict(one) for one in found], indent=2)


def print_components(found: Sequence[Component]) -> None:
    """Print names: grouped in columns on a terminal, else one per line with distribution and kind."""
    if not sys.stdout.isatty():
        _print_lines(found)
        return
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    for (kind, provider), group in groupby(found, key=lambda one: (one.kind, one.provider)):
        members = list(group)
        heading = f"{KINDS[kind].replace('_', ' ')} of {provider or 'this process'}"
        click.echo(f"{click.style(heading, fg='cyan', bold=True)} ({len(members)})")
        for line in (
            _described(members, width) if members[0].summary is not None else _columns(members, width)
        ):
            click.echo(line)
        click.echo()


def print_notes(registry: Registry, word: str | None) -> None:
    """Print on stderr why names are missing: packs that are blocked, broken or not installed."""
    for plugin, reason in sorted(registry.failures.items()):
        say(f"not loaded: plugin {plugin!r}: {reason}")
    for distribution, names in sorted(_absent(registry, word).items()):
        say(f"not installed: {plural(len(names), 'name')}; pip install {distribution}")


def _component(registry: Registry, kind: str, name: str) -> Component:
    try:
        origin = registry.origin(kind, name)
    except NameClashError as error:
        return Component(name, kind, None, None, "", str(error))
    return Component(name, kind, origin.distribution, origin.plugin, origin.target)


def _holds(word: str | None) -> Callable[[str], bool]:
    part = (word or "").casefold()
    return lambda name: part in name.casefold()


def _check_pack(pack: str, there: Iterable[Component]) -> None:
    known = sorted({each for one in there for each in (one.plugin, one.distribution) if each is not None})
    if pack not in known:
        near = near_names(pack, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"packs: {', '.join(map(repr, known)) or 'none'}"
        raise WrongUsage(f"no pack {pack!r} provides components ({hint})")


def _unknown(word: str, there: Iterable[Component], registry: Registry) -> str:
    for distribution, names in sorted(_absent(registry, word).items()):
        return f"no installed name contains {word!r}; for {names[0]!r}: pip install {distribution}"
    near = _near(word, sorted({one.name for one in there}))
    hint = f" (did you mean {', '.join(map(repr, near))}?)" if near else "; penstock list shows all of them"
    reasons = ", ".join(f"{plugin} ({why})" for plugin, why in sorted(registry.failures.items()))
    return f"no name contains {word!r}{hint}{f'; plugins that are not loaded: {reasons}' if reasons else ''}"


def _near(word: str, names: Sequence[str]) -> list[str]:
    """Return names that are similar to a word, else words in names that are: "canny" for "cany"."""
    words = {part.lower() for name in names for part in _WORD.findall(name)}
    return near_names(word, names) or near_names(word.lower(), sorted(words))


def _absent(registry: Registry, word: str | None) -> dict[str, list[str]]:
    """Return distribution → names, for the official packs that are not installed."""
    fits = _holds(word)
    found: dict[str, list[str]] = {}
    for kind, names in official_packs().items():
        for name, distribution in names.items():
            if kind in KINDS and fits(name) and registry.install_hint(kind, name) == distribution:
                found.setdefault(distribution, []).append(name)
    return found


def _print_lines(found: Sequence[Component]) -> None:
    """Print columns that `awk` and `cut` can separate: only the last field contains blanks."""
    names = max((len(one.name) for one in found), default=0)
    packs = max((len(one.provider or "-") for one in found), default=0)
    kinds = max((len(one.kind) for one in found), default=0)
    for one in found:
        kind = one.kind.replace(" ", "-")
        line = f"{one.name:{names}}  {one.provider or '-':{packs}}  {kind:{kinds}}  {_said(one)}"
        click.echo(line.rstrip())


def _columns(members: Iterable[Component], width: int) -> Iterator[str]:
    names = [one.name for one in members]
    if 2 * max(map(len, names)) + 4 > width:  # only a few short names would fit a second column
        yield from (f"  {name}" for name in names)
        return
    page = StringIO()
    Cmd(stdout=page).columnize(names, displaywidth=width - 2)
    yield from (f"  {line}".rstrip() for line in page.getvalue().splitlines())


def _described(members: Iterable[Component], width: int) -> Iterator[str]:
    for one in members:
        yield f"  {click.style(one.name, bold=True)}"
        yield from textwrap.wrap(_said(one), width, initial_indent="      ", subsequent_indent="      ")


def _said(one: Component) -> str:
    return f"cannot be used: {one.problem}" if one.problem else one.summary or ""

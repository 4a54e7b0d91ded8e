"""`check_pack`: all faults of an installed pack that can be found without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from penstock import Registry
from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.packs import default_plugin_host
from penstock_testing.packs.components import (
    check_name,
    check_option,
    check_registered_once,
    homes,
    load,
)
from penstock_testing.packs.example_nodes import Nodes
from penstock_testing.packs.imports import check_imports
from penstock_testing.packs.loading_cost import check_loading, load_apart
from penstock_testing.packs.metadata import canonical, check_metadata, installed_distribution, requirements
from penstock_testing.packs.report import PackFault, PackReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.packs import Discovered, PluginHost


def check_pack(
    name: str, *, host: PluginHost | None = None, progress: Callable[[str], object] | None = None
) -> PackReport:
    """Look at an installed pack, and return what is wrong with it.

    In its own tests:

        def test_the_pack_is_as_packs_should_be():
            assert check_pack("my-pack").errors == ()

    Its entry point is found and loaded; loading it in a fresh interpreter imports nothing heavy; its
    distribution requires the core in a range, and what its modules import, and has the files that it should
    have; its names are free; their targets can be imported and are of the right kind; the example in each
    calculator's docstring, or without one the node that its contract asks for, loads; subgraphs expand, out
    of packs that are required; options are the extensions that they are declared as. No graph is run.

    Args:
        name: of the plugin, or of the distribution.
        host: the plugins to look among; None for those of the process.
        progress: called with the next thing that is checked, in a few words.

    Raises:
        NotFoundError: no plugin has that name; says what is near.
        InvalidArgumentError: the distribution has several plugins; names them.
    """
    host = default_plugin_host() if host is None else host
    record = find_record(name, host)
    return _Check(record, host, progress or _ignore).report()


def find_record(name: str, host: PluginHost) -> Discovered:
    """Return the record of a plugin, by its name or that of its distribution.

    Raises:
        NotFoundError, InvalidArgumentError: as `check_pack`.
    """
    named = [record for record in host.records if record.name == name]
    # Of several that claim a plugin's name one is loaded; the records of the others say why they are not.
    named.sort(key=lambda record: record.state != "loaded")
    found = named or [record for record in host.records if canonical(record.distribution) == canonical(name)]
    if not found:
        known = sorted({known for record in host.records for known in (record.name, record.distribution)})
        raise NotFoundError(
            f"there is no pack to check: no plugin and no distribution with one is named {name!r}"
            f"{did_you_mean(name, known)}; install the pack first: pip install -e DIRECTORY"
        )
    if not named and len(found) > 1:
        names = ", ".join(repr(record.name) for record in found)
        raise InvalidArgumentError(
            f"distribution {name!r} has several plugins: {names}; name the one to check"
        )
    return found[0]


class _Check:
    """One look at one pack."""

    def __init__(self, record: Discovered, host: PluginHost, progress: Callable[[str], object]) -> None:
        self._record = record
        self._host = host
        self._report = progress
        self._subject = f"plugin {record.name!r}"

    def report(self) -> PackReport:
        record = self._record
        report = PackReport(
            record.name, record.distribution, record.version, record.module, record.components
        )
        if record.state != "loaded":
            return attrs.evolve(report, faults=(PackFault(self._subject, self._why_not()),))
        self._report(f"loading plugin {record.name!r} in a fresh interpreter")
        loading = load_apart(record.name)
        found = check_loading(
            loading, self._subject, record.module, homes(self._host.components(record.name))
        )
        faults = [*self._rivals(), *found, *self._faults()]
        return attrs.evolve(report, loading_ms=loading.ms, faults=tuple(faults))

    def _why_not(self) -> str:
        record = self._record
        places = [line for line in record.traceback.splitlines() if line.startswith('  File "')]
        place = f" ({places[-1].partition(', in ')[0].strip()})" if places else ""
        return f"it is not loaded: {record.reason}{place}"

    def _rivals(self) -> Iterator[PackFault]:
        for other in self._host.records:
            if other.name == self._record.name and other is not self._record:
                yield PackFault(self._subject, other.reason)

    def _faults(self) -> Iterator[PackFault]:
        record = self._record
        self._report(f"looking at distribution {record.distribution!r}")
        distribution = installed_distribution(record.distribution)
        yield from check_metadata(record, distribution)
        components = self._host.components(record.name)
        modules = {record.module.partition(":")[0], *homes(components)}
        yield from check_imports(record, distribution, modules)
        registry = Registry(self._host.fill)
        nodes = Nodes(registry, record.distribution, set(requirements(distribution)))
        for kind, name, _ in components.by_kind():
            self._report(f"looking at {kind} {name!r}")
            yield from check_name(kind, name, components, record)
            thing, fault = load(kind, name, registry)
            if fault is not None:
                yield fault
            elif kind == "calculator":
                yield from check_registered_once(name)
                yield from nodes.check_calculator(name, thing)
            elif kind == "subgraph":
                yield from nodes.check_subgraph(name, thing)
        for full_name in components.options:
            self._report(f"looking at option {full_name!r}")
            yield from check_option(registry.options()[full_name])


def _ignore(_: str) -> None:
    """Ignore progress, where the caller asks for none."""

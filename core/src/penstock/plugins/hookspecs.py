"""What a plugin can bring and which hooks it can implement.

A plugin is a distribution with one entry point in the group `penstock`, naming a small module that
imports nothing heavy:

    from penstock import Components, hookimpl

    @hookimpl
    def penstock_components() -> Components:
        return Components(calculators={"GateCalculator": "my_pack.gate:GateCalculator"})

Hooks run when things load and when runs start and end, never for a packet. An implementation may
leave out arguments that it does not need. Hook wrappers are refused: each implementation is called
on its own, so that one that fails takes no other down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pluggy

    from penstock.plugins.doctor import DoctorCheck
    from penstock.plugins.plugin_components import Components


class RunningGraph(Protocol):
    """What the hooks of a run may use of its graph, which is a `penstock.CalculatorGraph`.

    A protocol, because the graph calls the hooks: this module does not import the graph.

    Attributes:
        text_config: the checked config as graph text.
        input_streams, output_streams: the names of the graph inputs, and of the graph outputs that
            something produces.
        is_running: whether a run is under way.
        counters: of the graph: `<node>-<counter>` → value, over all runs.
    """

    @property
    def text_config(self) -> str: ...  # noqa: D102  # see above
    @property
    def input_streams(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def output_streams(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def is_running(self) -> bool: ...  # noqa: D102
    @property
    def counters(self) -> dict[str, int]: ...  # noqa: D102

    def why(self) -> object:
        """Return why the run does not go on; `str()` of it is the story in words."""

    def snapshot(self) -> Any:
        """Return where the run stands, as data; see `penstock.explain.Snapshot`."""

    def ledger(self) -> Any:
        """Return where every packet of the run went; see `penstock.explain.Ledger`."""


#: Name of the entry point group, and of the project as pluggy knows it.
PROJECT: Final = "penstock"

if TYPE_CHECKING:
    hookspec = pluggy.HookspecMarker(PROJECT)
    #: Marks a function of a plugin as the implementation of the hook that has its name.
    hookimpl = pluggy.HookimplMarker(PROJECT)
else:

    def _marker(attribute: str, **defaults: object) -> Callable[..., Any]:
        """Return a decorator that leaves on functions what pluggy's leaves, without importing pluggy."""

        def mark(function: Any = None, **options: object) -> Any:
            if not options.keys() <= defaults.keys():
                raise TypeError(f"the mark of a hook takes {', '.join(defaults)}, not {', '.join(options)}")
            if function is None:
                return lambda later: mark(later, **options)
            setattr(function, attribute, {**defaults, **options})
            return function

        return mark

    hookspec = _marker(
        f"{PROJECT}_spec", firstresult=False, historic=False, warn_on_impl=None, warn_on_impl_args=None
    )
    hookimpl = _marker(
        f"{PROJECT}_impl",
        wrapper=False,
        hookwrapper=False,
        optionalhook=False,
        tryfirst=False,
        trylast=False,
        specname=None,
    )


@hookspec
def penstock_components() -> Components:  # type: ignore[empty-body]  # a specification
    """Return what this plugin brings.

    Called when plugins are loaded: once in a process, at the first look-up of a name in the default registry.
    A process that finds the answer in the file of an earlier one does not call it (`Components.is_fixed`).
    Must import nothing heavy. A plugin whose implementation raises, or returns anything but a `Components`,
    is reported as failed and contributes nothing, also no other hook.
    """


@hookspec
def penstock_cli(group: Any) -> None:
    """Add commands to the `penstock` command.

    Called once for each start of the command line, after plugins are loaded and before arguments
    are parsed, with the click group. One that raises is reported; the other commands work.
    """


@hookspec
def penstock_doctor() -> Iterable[DoctorCheck]:  # type: ignore[empty-body]  # a specification
    """Look at what this plugin needs from the machine, and say what is there.

    Called by `penstock doctor`; may import and probe anything, and may take seconds.
    One that raises counts as a failed check.
    """


@hookspec
def penstock_run_options(command: Any) -> None:
    """Add options to `penstock run` and `penstock demo`.

    Called once for each of them, after `penstock_cli`, with the click command: append to its `params`.
    While it runs, `click.get_current_context().params` has the values, also in `penstock_run_prepared`.
    One that raises, or adds an option that is there already, is reported; its options are missing.
    """


@hookspec
def penstock_run_prepared(graph: Any) -> None:
    """Add tracers and observers to a graph, a `penstock.CalculatorGraph`, before a run starts.

    Called as `penstock_run_started`, but before anything of the run is made. What is added stays for later
    runs of the graph. If the start then fails, no other hook is called.
    """


@hookspec
def penstock_run_started(graph: RunningGraph) -> None:
    """Take note that a run of a graph starts.

    Called for each run of a graph that uses the default registry, on the thread that starts it,
    before any node opens and without a lock. Other threads see the run only after that. One that raises is
    logged, and the run goes on.
    """


@hookspec
def penstock_run_ended(graph: RunningGraph, error: BaseException | None) -> None:
    """Take note that a run of a graph has ended.

    Called once for each run whose start was announced, after all nodes are closed and all observers
    drained, without a lock; from which thread is not promised. `error` is what the run ended with,
    or None. One that raises is logged, and the run's result stays what it is.
    """


@hookspec
def penstock_lint() -> Iterable[Any]:  # type: ignore[empty-body]  # a specification
    """Bring rules of `penstock lint`, each a `penstock_lint.Rule` with a code of its own.

    Called when a graph is linted. One that raises, or a code that is there already, is reported; the other
    rules are looked at.
    """


@hookspec(firstresult=True)
def penstock_mimebundle(config: Any, plain: str) -> Mapping[str, str] | None:
    """Draw a graph for a notebook.

    Called when a notebook shows a graph, on the thread that asks, with the checked CalculatorGraphConfig
    message, which must not be changed, and the text that the notebook shows without a drawing. Returns
    MIME type → content; None where this plugin draws nothing: then the next one is called. One that raises
    is logged, and the next one is called.
    """

"""Which input stream handler each node has: the file's choice, then the calculator's, then the default.

Source of the precedence: MediaPipe `calculator_node` and `validated_graph_config`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.check.asking import ask_leading
from penstock.errors import PenstockError, UnknownNameError, code_of, words_of
from penstock.late_log import LateLogger, place
from penstock.plan import DEFAULT_EXECUTOR, HandlerPlan

if TYPE_CHECKING:
    from penstock.check.name_lookups import Names
    from penstock.check.nodes import Draft
    from penstock.check.protocols import OptionsFactory
    from penstock.check.spec import GraphSpec, HandlerSpec

_KIND: Final = "input stream handler"
_DEFAULT: Final = "DefaultInputStreamHandler"
_OUTPUT_DEFAULT: Final = "InOrderOutputStreamHandler"
_LOG: Final = LateLogger("config")


class Handlers:
    """Chooses and looks up the handlers of one graph."""

    def __init__(self, graph: GraphSpec, names: Names, options_of: OptionsFactory) -> None:
        self._names = names
        self._faults = names.faults
        self._options_of = options_of
        #: Of the nodes for which nothing else is said.
        self._default: HandlerPlan | None = None
        self._where = graph.places.where
        self._of_graph = graph.input_stream_handler
        self._has_default_executor = any(not one.name.text for one in graph.executors)
        #: Handlers that the graph names, or the default: a fault is noted once, not for every node.
        self._of_all: dict[str, object | None] = {}
        if self._of_graph is not None and self._of_graph.name:
            self._once(self._of_graph.name, self._of_graph.at)
        self.check_output(graph.output_stream_handler, "")

    def check_output(self, spec: HandlerSpec | None, who: str) -> None:
        """Note a fault where the file asks for an output stream handler that does not exist."""
        if spec is not None and spec.name not in ("", _OUTPUT_DEFAULT):
            error = UnknownNameError("output stream handler", spec.name, [_OUTPUT_DEFAULT])
            self._faults.add_error(spec.at, who, error)

    def plan(self, draft: Draft) -> HandlerPlan:
        """Choose a node's handler; note a fault where no handler has its name, or its options do not fit."""
        chosen = self._chosen(draft)
        is_read = draft.spec.at not in self._faults.unread
        if chosen.name == _DEFAULT or not is_read:
            return chosen
        error = ask_leading(chosen, draft.inputs)
        if error is not None:
            own = draft.spec.input_stream_handler
            at = draft.spec.at if own is None else own.at
            if isinstance(error, PenstockError):
                self._faults.add_error(at, f"{draft.who}: ", error, node=draft.name)
            else:
                words = f"{draft.who}: {chosen.name}.leading_input() failed: {words_of(error)}"
                self._faults.add(at, words, code=code_of(error), node=draft.name, cause=error)
        return chosen

    def _chosen(self, draft: Draft) -> HandlerPlan:
        if draft.spec.output_stream_handler is not None:
            self.check_output(draft.spec.output_stream_handler, f"{draft.who}: ")
        own, wanted = draft.spec.input_stream_handler, draft.contract.input_stream_handler
        chosen = self._of_graph if own is None else own
        if chosen is not None and chosen.name:
            if wanted is not None and wanted.name != chosen.name:
                self._names.is_settled = False  # an equal graph is to be warned of too
                _LOG.warning(
                    "%s%s: its calculator asks for the input stream handler %r; the graph replaces it by %r",
                    self._where(chosen.at),
                    draft.who,
                    wanted.name,
                    chosen.name,
                    extra=place(draft.name),
                )
            if own is None:
                return HandlerPlan(chosen.name, self._once(chosen.name, chosen.at), chosen.options)
            return HandlerPlan(chosen.name, self._found(chosen.name, own.at, draft), chosen.options)
        if wanted is not None:
            if wanted.options is not None:  # the calculator's own object, new in each contract
                self._names.is_settled = False
            options = self._options_of(wanted.options)
            return HandlerPlan(wanted.name, self._found(wanted.name, draft.spec.at, draft), options)
        if chosen is None and self._default is not None:
            return self._default
        options = self._options_of(None) if chosen is None else chosen.options
        plan = HandlerPlan(_DEFAULT, self._once(_DEFAULT, draft.spec.at, "needed by default: "), options)
        self._default = plan if chosen is None else None
        return plan

    def _once(self, name: str, at: int, who: str = "") -> object | None:
        if name not in self._of_all:
            self._of_all[name] = self._names.find(_KIND, name, at, who)
            if who and self._of_all[name] is None and not self._has_default_executor:
                # Else found only when the graph is made, after this fault has been mended.
                self._names.find("executor", DEFAULT_EXECUTOR, at, who)
        return self._of_all[name]

    def _found(self, name: str, at: int, draft: Draft) -> object | None:
        return self._names.find(_KIND, name, at, f"{draft.who}: ", draft.name)

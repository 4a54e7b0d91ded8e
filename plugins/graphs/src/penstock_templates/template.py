"""A template that was read: its message, its rules, and where they stand.

The core's reader makes one from text, a binary file or a message (see `reader`). A template never changes:
each expansion makes a new graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.config.calculator_graph_template_pb2 import CalculatorGraphTemplate, TemplateSubgraphOptions
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.errors import ResourceExhaustedError
from penstock.readers import Places, ReadGraph, Spot
from penstock_templates.expand import Rules, carry_out
from penstock_templates.expression_values import values_in
from penstock_templates.field_values import new, values
from penstock_templates.rule_paths import Site, sites_of
from penstock_templates.template_text import scan_template
from penstock_templates.usage import usage_of
from penstock_templates.wire import encoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.errors import PenstockError
    from penstock.readers import Faults, Message, ReaderFindType, ReaderMerge
    from penstock.types import Options
    from penstock_templates.expression_values import Value

_NOTHING: Final[Mapping[str, Value]] = {}


@attrs.frozen(eq=False)
class Template:
    """A template, and values for some of its params."""

    #: A CalculatorGraphTemplate.
    message: Message
    #: The places of its text; without a tree where there is no text.
    places: Places
    #: The rules of the message.
    rules: Rules
    #: Where each rule begins in the text; empty where there is no text.
    offsets: tuple[int, ...] = ()
    #: Param → value; goes before the defaults.
    given: Mapping[str, Value] = _NOTHING

    @property
    def graph(self) -> Message:
        """The graph without the rules: with placeholders where rules give values."""
        return self.message.config

    def expand(
        self,
        places: Places,
        faults: Faults,
        arguments: object = None,
        node: str | None = None,
    ) -> ReadGraph | None:
        """Return the graph that the template makes of some values; None where there are mistakes.

        Args:
            places: of the template, or a copy by `Places.include` or `again`.
            faults: takes the mistakes, each once, however often a loop repeats it.
            arguments: a mapping from param to value, which goes before `given`; None for no arguments.
            node: name of the node that the graph is for, or None.

        Raises:
            ResourceExhaustedError: the templates of the graph take more than a limit allows; has the place.
        """
        reported = set[tuple[int, str]]()
        usage = usage_of(faults)

        def report(rule: int, error: PenstockError) -> None:
            if isinstance(error, ResourceExhaustedError):
                if not reported:  # the mistakes may be why so much is made
                    raise error.placed(places.where(self._at(places, rule))) from error
                return
            usage.mistake()
            if (rule, str(error)) not in reported:
                reported.add((rule, str(error)))
                faults.add_error(self._at(places, rule), "", error, node=node)

        graph = CalculatorGraphConfig()
        graph.CopyFrom(self.message.config)
        values = {**self.given, **_values(arguments)}
        root = carry_out(self.rules, graph, places.root, values, report, usage)
        return None if reported else ReadGraph(graph, places.with_tree(root))

    def params(self) -> dict[str, bool]:
        """Return the names of params → whether there is a default. Declared ones come first."""
        declared = [self.message.rule[i] for i in self.rules.declarations]
        found = {rule.arg[0].param: len(rule.arg) > 1 for rule in declared if rule.arg}
        for name in (name for rule in declared for name in _names(rule)):
            found.setdefault(name, False)
        for name in _asked(self.rules.root, self.message.rule, frozenset()):
            found.setdefault(name, False)
        return found

    @staticmethod
    def arguments_of(options: Options) -> Mapping[str, Value]:
        """Return param → value, as a node gives them in its TemplateSubgraphOptions."""
        return values_in(options.get(TemplateSubgraphOptions).dict)

    def unknown(self, arguments: object) -> list[str]:
        """Return the names of arguments that have no effect, since the template has no such param."""
        params = self.params()
        return [name for name in _values(arguments) if name not in params]

    def _at(self, places: Places, rule: int) -> int:
        return places.at(Spot(self.offsets[rule]) if self.offsets else None)


def _values(arguments: object) -> Mapping[str, Value]:
    given: Mapping[str, Value] = _NOTHING if arguments is None else arguments  # type: ignore[assignment]  # a mapping
    return given


def read_text(text: str, places: Places, merge: ReaderMerge, find: ReaderFindType) -> Template:
    """Read the text of a template.

    Args:
        text: with our package's names, whose types are known.
        places: of the text.
        merge: reads ordinary text into a message, or raises.
        find: finds the types that the text names.

    Raises:
        RuleError: a rule cannot be read, or stands where no rule can.
        PenstockError: what `merge` raises.
    """
    scanned = scan_template(text, CalculatorGraphConfig.DESCRIPTOR, find)
    message = CalculatorGraphTemplate()
    merge(scanned.text, message.config, 0, scanned.unclosed)
    scanned.check()
    message.rule.extend(scanned.rules)
    spots = {}
    for fragment in scanned.fragments:
        field = fragment.field
        inside = new(field.containing_type)
        merge(fragment.text, inside, fragment.offset, None)
        # A field without presence that is set to its default has no value in the message.
        value = next(iter(values(inside, field)), field.default_value)
        message.rule[fragment.rule].field_value = encoded(field, value)
        spots[fragment.rule] = fragment.spot
    rules = _rules(message, find, spots)
    return Template(message, places.with_tree(scanned.root), rules, tuple(scanned.offsets))


def without_rules(graph: Message, places: Places) -> Template:
    """Return a graph as a template without rules."""
    message = CalculatorGraphTemplate(config=graph)
    return Template(message, places, Rules(message.rule, [], Site(()), _no_type))


def of_message(message: Message, places: Places, find: ReaderFindType) -> Template:
    """Return the template of a CalculatorGraphTemplate. The message is kept; `find` as for `read_text`.

    Raises:
        InvalidArgumentError: its rules cannot be followed.
    """
    return Template(message, places, _rules(message, find, {}))


def _rules(message: Message, find: ReaderFindType, spots: Mapping[int, Spot]) -> Rules:
    declarations, root = sites_of(message.rule)
    return Rules(message.rule, declarations, root, find, spots)


def _no_type(name: str) -> Any:
    raise KeyError(name)  # never called: there are no rules


def _asked(site: Site, rules: Sequence[Message], variables: frozenset[str]) -> Iterator[str]:
    """Yield the params that the rules of a site and of those inside it use, without variables of loops."""
    for rule in (rules[position] for position in site.rules):
        yield from (name for name in _names(rule) if name not in variables)
        if rule.op == "for" and rule.arg:
            variables |= {rule.arg[0].param}
    for inner in site.sites:
        yield from _asked(inner, rules, variables)


def _names(expression: Message) -> Iterator[str]:
    """Yield the params that an expression uses."""
    if not expression.op and expression.HasField("param"):
        yield expression.param
    parts = expression.arg
    if expression.op in ("param", "for"):
        parts = parts[1:]
    elif expression.op == ".":
        parts = parts[:1]
    for one in parts:
        yield from _names(one)

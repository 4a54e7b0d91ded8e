"""A template and values become a graph.

Rules are carried out from the outside in, each on a copy of the value that it is for; the results replace
that value. The places follow: a node has the place of the text that it is made from. Mistakes are reported,
and the values that they concern are left out; such a graph serves only to find further mistakes. Source:
MediaPipe `tool/template_expander`.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError
from penstock.readers import Spot
from penstock_templates import field_values
from penstock_templates.evaluate import Environment
from penstock_templates.rule_paths import check_count
from penstock_templates.wire import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock.readers import Message, ReaderFindType
    from penstock_templates.expression_values import Value
    from penstock_templates.rule_paths import Site, Step
    from penstock_templates.usage import Usage

#: New values of a field, each with its place.
Made = list[tuple[Any, "Spot | None"]]

_NO_SPOTS: Final[dict[int, Spot]] = {}


@attrs.frozen(eq=False)
class Rules:
    """The rules of one template."""

    #: All of them, in order.
    expressions: Sequence[Message]
    #: The positions of those that declare params.
    declarations: list[int]
    #: The site of the whole graph.
    root: Site
    #: Finds the types of packed messages.
    find: ReaderFindType
    #: Position of a rule that holds a value itself → where that value stands in the text.
    value_spots: Mapping[int, Spot] = _NO_SPOTS


def carry_out(  # noqa: PLR0913, PLR0917  # the parts of one expansion
    rules: Rules,
    graph: Message,
    spot: Spot | None,
    values: Mapping[str, Value],
    report: Callable[[int, PenstockError], None],
    usage: Usage,
) -> Spot | None:
    """Carry out the rules of a template.

    Args:
        rules: of the template.
        graph: a CalculatorGraphConfig, which is changed.
        spot: where its fields stand, or None. Does not change.
        values: param → value.
        report: called for each mistake with the position of the rule; and once with a
            ResourceExhaustedError, where a limit ends the work.
        usage: counts what the expansion costs.

    Returns:
        Where the fields of the finished graph stand.
    """
    work = _Work(rules, values, report, usage)
    try:
        return work.graph(graph, spot)
    except ResourceExhaustedError as error:
        report(work.rule, error)
        return spot


@attrs.define(eq=False)
class _Edit:
    """What replaces one value of a field. Where `is_held`, the rule held the value, and the field did not."""

    step: Step
    rule: int
    made: Made
    is_held: bool = False


class _Work:
    """One expansion."""

    def __init__(
        self,
        rules: Rules,
        values: Mapping[str, Value],
        report: Callable[[int, PenstockError], None],
        usage: Usage,
    ) -> None:
        self._rules = rules
        self._report = report
        self._usage = usage
        #: The position of the rule that is carried out.
        self.rule = 0
        self._environment = Environment(dict(values), lambda error: report(self.rule, error), usage)

    def graph(self, graph: Message, spot: Spot | None) -> Spot | None:
        for position in self._rules.declarations:
            self._declare(position)
        return self._body(graph, spot, self._rules.root.sites, 0)

    def _declare(self, position: int) -> None:
        declaration = self._rules.expressions[position]
        try:
            check_count(declaration)
        except InvalidArgumentError as error:
            self._report(position, error)
            return
        if len(declaration.arg) == 1:  # without a default: an error where it is used
            return
        name, default = declaration.arg
        if name.param not in self._environment.values:
            self.rule = position
            self._environment.values[name.param] = self._environment.evaluate(default)

    # --- messages ---------------------------------------------------------------------------------

    def _body(self, message: Message, spot: Spot | None, sites: Iterable[Site], depth: int) -> Spot | None:
        """Carry out the rules inside a message, which is changed; return where its fields stand now.

        Args:
            message: one that is used nowhere else.
            spot: of the message.
            sites: inside it.
            depth: number of steps that lead to the message.
        """
        found = None if spot is None else _copy_of(spot)
        edits: dict[int, list[_Edit]] = {}
        for step, group in groupby(sites, key=lambda site: site.path[depth]):
            inside = list(group)
            try:
                edit = self._edit(message, found, inside, depth, step)
            except ResourceExhaustedError:
                raise
            except PenstockError as error:
                self._report(inside[0].rules[0], error)
                continue
            edits.setdefault(step.number, []).append(edit)
        for number, of_field in edits.items():
            self.rule = of_field[0].rule
            try:
                _Field(message, number, found, self._rules.find).replace(of_field)
            except PenstockError as error:
                self._report(self.rule, error)
        return found

    def _edit(self, message: Message, spot: Spot | None, sites: list[Site], depth: int, step: Step) -> _Edit:
        """Carry out the rules for one value of a field, and those inside it."""
        held = _Field(message, step.number, spot, self._rules.find)
        site = sites[0]
        rule = site.rules[0]
        if len(site.path) > depth + 1:
            value, at = held.copy_of(step)
            made = [held.inside(value, at, lambda m, s: self._body(m, s, sites, depth + 1))]
            return _Edit(step, rule, made)
        holder = next((i for i in site.rules if self._rules.expressions[i].HasField("field_value")), None)
        if holder is None:
            value, at = held.copy_of(step)
        else:
            value = decoded(held.field, self._rules.expressions[holder].field_value)
            at = self._rules.value_spots.get(holder, spot)
        return _Edit(step, rule, self._applied(site, 0, held, value, at), is_held=holder is not None)

    # --- rules ------------------------------------------------------------------------------------

    def _applied(self, site: Site, number: int, held: _Field, value: Any, spot: Spot | None) -> Made:
        """Return the results of the rules of a site from `number` on for a value."""
        self._usage.step()
        if number == len(site.rules):
            self._usage.made(value)
            if not site.sites:
                return [(value, spot)]
            depth = len(site.path)
            fresh = field_values.copied(value)
            return [held.inside(fresh, spot, lambda m, s: self._body(m, s, site.sites, depth))]
        rule = self._rules.expressions[site.rules[number]]
        self.rule = site.rules[number]
        check_count(rule)
        if rule.op == "for":
            return self._repeated(site, number, held, value, spot)
        if rule.op == "if":
            is_true = self._environment.is_true(rule.arg[0])
            return self._applied(site, number + 1, held, value, spot) if is_true else []
        given = self._environment.evaluate(rule)
        if given is None:
            return []
        if isinstance(given, dict):
            self._usage.weigh(given)
        made = field_values.converted(held.field, given)
        self._usage.made(made)
        return [(made, spot)]

    def _repeated(self, site: Site, number: int, held: _Field, value: Any, spot: Spot | None) -> Made:
        variable, over = self._rules.expressions[self.rule].arg
        values = self._environment.values
        made: Made = []
        shadowed = {name: values[name] for name in (variable.param,) if name in values}
        for element in self._environment.elements(over):
            values[variable.param] = element
            made += self._applied(site, number + 1, held, value, spot)
        values.pop(variable.param, None)
        values.update(shadowed)
        return made


class _Field:
    """One field of a message, its values, and where they stand."""

    def __init__(self, message: Message, number: int, spot: Spot | None, find: ReaderFindType) -> None:
        """Look the field up.

        Raises:
            InvalidArgumentError: the message has no such field.
        """
        self._message = message
        self.field: Any = field_values.field_numbered(message.DESCRIPTOR, number)
        if self.field is None:
            name = message.DESCRIPTOR.full_name
            raise InvalidArgumentError(
                f"the template cannot be expanded: its rule is for field {number} of {name}, which nothing "
                "declares; install its plugin"
            )
        self._name = field_values.spelled(self.field)
        self._spot = spot
        self._find = find

    def copy_of(self, step: Step) -> tuple[Any, Spot | None]:
        """Return a copy of one value, and where it stands.

        Raises:
            InvalidArgumentError: there is no such value.
        """
        values = field_values.held(self._message, self.field)
        position = self._position(values, step)
        if position >= len(values):
            if field_values.is_repeated(self.field) or field_values.is_message(self.field):
                raise InvalidArgumentError(
                    "the template cannot be expanded: its rule is for "
                    f"{self._name}[{step.key or step.position}], which is missing"
                )
            return self.field.default_value, self._spot_of(position)
        value = values[position]
        return field_values.copied(value), self._spot_of(position)

    def inside(
        self,
        value: Any,
        spot: Spot | None,
        carry_out: Callable[[Any, Spot | None], Spot | None],
    ) -> tuple[Any, Spot | None]:
        """Carry out rules inside a value, which is changed; return the value and its place."""
        if field_values.is_message(self.field):
            return value, carry_out(value, spot)
        if self._message.DESCRIPTOR.full_name != field_values.ANY:
            raise InvalidArgumentError(
                f"the template cannot be expanded: a rule leads into field {self._name!r}, which holds no "
                "message"
            )
        packed = field_values.unpacked(self._message, self._find)
        at = carry_out(packed, _first_inside(spot))
        return packed.SerializePartialToString(deterministic=True), at

    def replace(self, edits: list[_Edit]) -> None:
        """Replace values by what was made of them.

        Raises:
            InvalidArgumentError: the field does not repeat, and there are several values.
        """
        values = field_values.values(self._message, self.field)
        if not field_values.is_repeated(self.field):
            self._replace_only(values, edits)
            return
        by_position = {self._position(values, edit.step): edit.made for edit in edits}
        given: Made = []
        for position, value in enumerate(values):
            given += by_position.get(position, [(value, self._spot_of(position))])
        self._set(given)

    def _replace_only(self, values: list[Any], edits: list[_Edit]) -> None:
        made = [one for edit in edits for one in edit.made]
        in_place = values if all(edit.is_held for edit in edits) else []
        oneof = self.field.containing_oneof
        other = None if oneof is None else self._message.WhichOneof(oneof.name)
        if made and other not in (None, self.field.name):
            raise InvalidArgumentError(
                f"the template cannot be expanded: field {self._name!r} is given beside {other!r}; only one "
                "of them can be expanded"
            )
        if len(made) + len(in_place) > 1:
            raise InvalidArgumentError(
                f"the template's field {self._name!r} does not repeat and expands to "
                f"{len(made) + len(in_place)} values; it takes 1"
            )
        if made or not in_place:
            self._set(made)

    def _set(self, given: Made) -> None:
        field_values.set_values(self._message, self.field, [value for value, _ in given])
        if self._spot is not None:
            self._spot.fields[self._name] = [spot or self._spot for _, spot in given]

    def _position(self, values: Sequence[Any], step: Step) -> int:
        if step.key is not None:
            return next(
                (i for i, one in enumerate(values) if field_values.key_text(one) == step.key), len(values)
            )
        return step.position if field_values.is_repeated(self.field) else 0

    def _spot_of(self, position: int) -> Spot | None:
        spots = () if self._spot is None else self._spot.fields.get(self._name, ())
        return spots[position] if position < len(spots) else self._spot


def _copy_of(spot: Spot) -> Spot:
    copy = Spot(spot.offset)
    copy.fields = {name: list(spots) for name, spots in spot.fields.items()}
    return copy


def _first_inside(spot: Spot | None) -> Spot | None:
    inside = () if spot is None else tuple(spot.fields.values())
    return inside[0][0] if inside and inside[0] else spot

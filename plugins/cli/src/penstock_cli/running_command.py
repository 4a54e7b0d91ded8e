"""`RunningCommand`: a command that runs a graph, and takes the options that plugins add."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import click

from penstock.errors import AlreadyExistsError
from penstock_cli.options import ValueIfAny

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class RunningCommand(click.Command):
    """A command that runs a graph, to which plugins add options with their hook `penstock_run_options`.

    The values of these options are in the context's `params`, and are not passed to the command's function.

    Args:
        args, kwargs: as of `click.Command`.
        preparations: the command's own, which come before the plugins' ones.
    """

    def __init__(
        self, *args: Any, preparations: Sequence[Callable[[click.Context], object]] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._own: Final = tuple(self.params)
        #: Called with the context before the command's function, when all options are read. Plugins append to
        #: it what must fail before anything starts, as where a port is taken: what is raised ends the
        #: command. `ctx.call_on_close` undoes what they did.
        self.preparations: list[Callable[[click.Context], object]] = list(preparations)

    @property
    def added(self) -> set[str]:
        """The names of the options that plugins have added."""
        return {str(param.name) for param in self.params if param not in self._own}

    def take_options(self, add: Callable[[click.Command], object]) -> None:
        """Let one plugin add its options.

        Raises:
            AlreadyExistsError: the command has one of them already. None of them is added.
            Whatever the plugin raises; none is added either.
        """
        before, prepared = list(self.params), list(self.preparations)
        taken = {word for param in before for word in (param.name, *param.opts, *param.secondary_opts)}
        try:
            add(self)
            added = [param for param in self.params if param not in before]
            for param in added:
                for word in (*param.opts, *param.secondary_opts, param.name):
                    if word in taken:
                        raise AlreadyExistsError(  # noqa: TRY301  # undone as whatever the plugin raises
                            f"running command {self.name!r} has an option {word!r} already; choose "
                            "another name"
                        )
        except BaseException:
            self.params, self.preparations = before, prepared
            raise
        self.params = [*before, *added]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words, with the values that were left out."""
        return super().parse_args(ctx, list(self._completed(args)))

    def invoke(self, ctx: click.Context) -> object:
        """Prepare, and call the command's function with the values of its own options."""
        for prepare in self.preparations:
            prepare(ctx)
        callback: Any = self.callback
        own = {param.name: ctx.params[param.name] for param in self._own if param.name in ctx.params}
        return ctx.invoke(callback, **own)

    def _completed(self, args: Sequence[str]) -> Iterator[str]:
        options = {
            word: param for param in self.params if isinstance(param, ValueIfAny) for word in param.opts
        }
        for word, following in zip_longest(args, args[1:], fillvalue=""):
            option = options.get(word)
            if option is None or option.is_value(following):
                yield word
            else:
                yield f"{word}={option.left_out}"

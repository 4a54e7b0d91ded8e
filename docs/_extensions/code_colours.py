"""Colours of code that Pygments takes for something else.

In commands `in.mp4` is a file, and `in` no word of the shell's language. Graph files have comments that begin
with `#`, which files of protobuf's own language have not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pygments.lexers.dsls import ProtoBufLexer
from pygments.lexers.shell import BashLexer, BashSessionLexer
from pygments.token import Comment, Text

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class _Commands(BashLexer):
    tokens: ClassVar[dict[str, list[Any]]] = {
        **BashLexer.tokens,
        "basic": [(r"\bin(?=\.\w)", Text), *BashLexer.tokens["basic"]],
    }


class _Console(BashSessionLexer):
    _innerLexerCls = _Commands  # noqa: N815  # Pygments' name


class _Graph(ProtoBufLexer):
    tokens: ClassVar[dict[str, list[Any]]] = {
        **ProtoBufLexer.tokens,
        "root": [(r"#.*$", Comment.Single), *ProtoBufLexer.tokens["root"]],
    }


def setup(app: Sphinx) -> dict[str, bool]:
    """Colour the blocks of the pages by these."""
    app.add_lexer("console", _Console)
    app.add_lexer("bash", _Commands)
    app.add_lexer("protobuf", _Graph)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

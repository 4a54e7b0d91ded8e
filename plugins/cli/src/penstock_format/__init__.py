"""Graph text in one layout, and the tree of graph text that the layout is written from.

`formatted` returns graph text as `penstock format` writes it. `read_tree` reads text into a `Document`,
broken text too, which editors need; `Field`, `Scalar`, `Block`, `Items` and `Rule` are its parts. Importing
this package imports nothing else: a name is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_format.formatting import formatted as formatted
    from penstock_format.formatting import formatted_unchecked as formatted_unchecked
    from penstock_format.tree import Block as Block
    from penstock_format.tree import Comment as Comment
    from penstock_format.tree import Document as Document
    from penstock_format.tree import Field as Field
    from penstock_format.tree import Items as Items
    from penstock_format.tree import Piece as Piece
    from penstock_format.tree import Rule as Rule
    from penstock_format.tree import Scalar as Scalar
    from penstock_format.tree import TreeMistake as TreeMistake
    from penstock_format.tree_reader import read_tree as read_tree

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_format.formatting": "formatted formatted_unchecked",
    "penstock_format.tree": "Block Comment Document Field Items TreeMistake Piece Rule Scalar",
    "penstock_format.tree_reader": "read_tree",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)

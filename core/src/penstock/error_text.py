"""What packs write errors with, so that they read alike and repeat no megabytes of a graph file.

`printable` escapes control characters; `shown` writes a payload in a few characters; `quoted` and `clipped`
write a value of a graph file. `near_names` finds the names that a misspelt one may mean, `did_you_mean`
writes them.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.near_names": "did_you_mean near_names",
    "penstock.shown": "clipped printable quoted shown",
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)

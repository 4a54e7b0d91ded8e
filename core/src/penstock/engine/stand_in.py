"""`StandIn`, the innermost invoker of a node whose calculator is elsewhere."""

from __future__ import annotations

from penstock.engine.calculator import Calculator
from penstock.engine.native import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class StandIn(Calculator):
    """Stands for a calculator that an executor has placed elsewhere: it carries the calls there.

    The engine treats it as any calculator, and so do the layers around it.
    """

    def works_at(self) -> str:
        """Return in words where the calculator is, as "worker 3 (pid 4711)"; "" where that is not known.

        Called under the lock of the run; must be quick.
        """
        return ""

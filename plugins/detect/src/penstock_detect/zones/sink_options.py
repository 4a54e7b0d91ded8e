"""The options of the calculators that tell others of events."""

from __future__ import annotations

import attrs

from penstock_detect.option_checks import check_least


@attrs.frozen(kw_only=True)
class EventFileSinkCalculatorOptions:
    """Where events are written.

    Attributes:
        path: of the file; its ending chooses the form.
        append: a file of lines that exists is added to; else it is replaced.
    """

    path: str = ""
    append: bool = False


@attrs.frozen(kw_only=True)
class WebhookSinkCalculatorOptions:
    """Where events are posted, and how often it is tried.

    Attributes:
        url: "http://..." or "https://...".
        timeout_ms: how long one attempt may take, from the connection to the answer.
        first_pause_ms: the pause after the first attempt that fails; each next one is twice as long.
        longest_pause_ms: the longest pause.
        give_up_ms: after so long without success a call fails; 0: never.
    """

    url: str = ""
    timeout_ms: int = 10_000
    first_pause_ms: int = 500
    longest_pause_ms: int = 30_000
    give_up_ms: int = 300_000

    def __attrs_post_init__(self) -> None:
        for name in ("timeout_ms", "first_pause_ms", "longest_pause_ms"):
            check_least(name, getattr(self, name), 1)
        check_least("give_up_ms", self.give_up_ms, 0)

"""WebhookSinkCalculator: posts events to an address, until they are accepted."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock_detect.zones.events import ZoneEvent, json_of
from penstock_detect.zones.posting import Poster, Target
from penstock_detect.zones.sink_options import WebhookSinkCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop

_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[\x20-\x7e]*")


class WebhookSinkCalculator(penstock.Calculator):
    """Posts events to a web address; a call ends when the server has accepted them.

    Input: EVENTS (list[ZoneEvent]). Input side packet: HEADERS, a dict of names and values, for each request:
    a graph file has no passwords. There are no outputs.

    The events of a packet are the body of one POST, an array of JSON as EventsToJsonCalculator makes it. An
    answer of 200 to 299 accepts it. While the server is away, is silent for `timeout_ms`, or answers 408,
    421, 425, 429 or 500 and more, the same body is posted again, after pauses that double from
    `first_pause_ms` to `longest_pause_ms`, with chance. After `give_up_ms` the call fails, and at once for
    other answers; the failure policy of the node decides what then happens. No event is left out in silence,
    and they come in their order. Where an answer was lost the server gets a body twice: its header
    Idempotency-Key is the same then.

    The thread of the node is not held meanwhile; packets wait in the queue of the node, whose
    `max_queue_size` makes sources wait. A run that is cancelled does not wait for the server. Redirections
    are not followed.

    Options `WebhookSinkCalculatorOptions`: `url`; `timeout_ms` (10000); `first_pause_ms` (500);
    `longest_pause_ms` (30000); `give_up_ms` (300000; 0: never).

    Raises in `get_contract`: InvalidArgumentError for an address that is none. In `open`: the same for
    headers that are none, PermissionDeniedError for an address that is not allowed. In `process`:
    UnavailableError after `give_up_ms`; PermissionDeniedError for answers of 401 and 403,
    InvalidArgumentError for other ones.

    Config::

        node {
          calculator: "WebhookSinkCalculator"
          input_stream: "EVENTS:events"
          input_side_packet: "HEADERS:headers"
          node_options {
            [type.googleapis.com/penstock_detect.WebhookSinkCalculatorOptions] {
              url: "http://127.0.0.1:8080/events"
            }
          }
        }
    """

    Options = WebhookSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the events and the address.

        Raises:
            InvalidArgumentError: the address is none.
        """
        cc.inputs["EVENTS"].set(list[ZoneEvent], "what happened")
        cc.input_side_packets["HEADERS"].set_one_of(dict, Mapping, description="of each request").optional()
        url = cc.options(WebhookSinkCalculatorOptions).url
        Target.of(url)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False, connects=[url])

    def open(self, cc: CalculatorContext) -> None:
        """Start the thread; no connection is made before the first event.

        Raises:
            PenstockError: as the class says.
        """
        options = cc.options(WebhookSinkCalculatorOptions)
        headers: Mapping[str, str] = {}
        if "HEADERS" in cc.input_side_packets and not cc.input_side_packets["HEADERS"].is_empty():
            headers = _checked(cc.input_side_packets["HEADERS"].payload)
        target = Target.of(cc.service(ACCESS).connecting(options.url))
        #: Tells the bodies of this run from all others.
        self._run = uuid.uuid4().hex
        self._count = 0
        self._poster = Poster(target, headers, options, cc.node_name)

    def process(self, cc: CalculatorContext) -> Future[Stop | None] | None:
        """Post the events; the future is done when the server has accepted them."""
        events: list[ZoneEvent] | None = cc.inputs["EVENTS"].payload
        if not events:
            return None
        self._count += 1
        done: Future[Stop | None] = Future()
        self._poster.post(json_of(events).encode(), f"{self._run}-{self._count}", done)
        return done

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """End the thread."""
        self._poster.close()


def _checked(headers: Any) -> dict[str, str]:
    """Return headers that can be sent.

    Raises:
        InvalidArgumentError: a name or value cannot; the value is not quoted, since it may be a password.
    """
    for name, value in headers.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidArgumentError(
                f"the webhook's side packet HEADERS has the name {name!r}, which no header has"
            )
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise InvalidArgumentError(
                f"the webhook's side packet HEADERS: the value of {name!r} must be a str of printable ASCII"
            )
    return dict(headers)

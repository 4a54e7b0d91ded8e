"""The settings of a consumer or producer."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

from confluent_kafka import KafkaError

from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.log import get_logger, place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock import CalculatorContext
    from penstock_kafka.options import KafkaSinkCalculatorOptions, KafkaSourceCalculatorOptions

_logger = get_logger(__name__)

#: Gets what librdkafka itself logs, which else goes to standard error as it is. Failed connections are left
#: out: there are several a second, and `teller` logs them seldom.
LIBRDKAFKA: Final = get_logger("penstock_kafka.librdkafka")
LIBRDKAFKA.addFilter(lambda record: not record.getMessage().startswith("FAIL "))

#: How long an error of one kind is not logged again.
_SELDOM_S: Final = 30.0


def settings_of(
    cc: CalculatorContext, options: KafkaSourceCalculatorOptions | KafkaSinkCalculatorOptions
) -> dict[str, Any]:
    """Return what the options and the side packet CONFIG say, which goes first.

    Raises:
        InvalidArgumentError: no brokers are given.
        PermissionDeniedError: the graph may not connect to one of them.
    """
    settings: dict[str, Any] = {}
    if options.bootstrap_servers:
        settings["bootstrap.servers"] = options.bootstrap_servers
    settings.update((one.key, one.value) for one in options.config)
    if "CONFIG" in cc.input_side_packets and not cc.input_side_packets["CONFIG"].is_empty():
        settings.update(cast("Mapping[str, Any]", cc.input_side_packets["CONFIG"].payload))
    if not settings.get("bootstrap.servers"):
        raise InvalidArgumentError(
            "the Kafka settings name no brokers; set bootstrap_servers in the options, or give the side "
            'packet CONFIG, a dict, the key "bootstrap.servers"'
        )
    access = cc.service(ACCESS)
    for server in str(settings["bootstrap.servers"]).split(","):
        access.connecting(server.strip())
    return settings


def teller(node: str) -> Callable[[KafkaError], None]:
    """Return what librdkafka calls with errors that it goes on after: it logs them, each seldom."""
    told: dict[int, float] = {}

    def tell(error: KafkaError) -> None:
        # It tries a broker that does not answer several times a second.
        now = monotonic()
        if now - told.get(error.code(), -inf) >= _SELDOM_S:
            told[error.code()] = now
            _logger.warning("%s; trying again", error.str(), extra=place(node=node))

    return tell


def refused(what: str, error: Exception) -> Exception:
    """Return the error of a client that cannot be made or used, with what to do."""
    problem = error.args[0] if error.args else error
    if isinstance(problem, KafkaError) and problem.code() == KafkaError._INVALID_ARG:  # noqa: SLF001
        return InvalidArgumentError(f"{what}: {problem.str()}")
    return UnavailableError(f"{what}: {problem.str() if isinstance(problem, KafkaError) else problem}")

"""Where the broker is, and what a client shows it: the options; the side packet CONFIG goes before them."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext
    from penstock_mqtt.options import MqttSinkCalculatorOptions, MqttSourceCalculatorOptions

#: Key of CONFIG → its type.
_KEYS: Final[dict[str, type]] = {
    "address": str, "client_id": str, "username": str, "password": str, "tls": bool, "ca_certs": str,
    "certfile": str, "keyfile": str,
}  # fmt: skip
_FILES: Final[tuple[str, ...]] = ("ca_certs", "certfile", "keyfile")
_PORTS: Final = {False: 1883, True: 8883}


@attrs.frozen
class Settings:
    """What a connection needs."""

    host: str
    port: int
    client_id: str
    username: str | None
    password: str | None = attrs.field(repr=False)
    tls: ssl.SSLContext | None

    @property
    def address(self) -> str:
        """Host and port, for people."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def settings_of(
    cc: CalculatorContext, options: MqttSourceCalculatorOptions | MqttSinkCalculatorOptions
) -> Settings:
    """Return what the options and CONFIG say.

    Raises:
        InvalidArgumentError: there is no address, CONFIG has an unknown key, or a TLS file cannot be used.
        PermissionDeniedError: the graph may not connect to the broker, or not read a TLS file.
    """
    given: dict[str, Any] = {}
    if "CONFIG" in cc.input_side_packets and not cc.input_side_packets["CONFIG"].is_empty():
        given.update(cc.input_side_packets["CONFIG"].get(Mapping))  # type: ignore[type-abstract]  # a dict too
    for key, value in given.items():
        wanted = _KEYS.get(key)
        if wanted is None:
            raise InvalidArgumentError(
                f"MQTT setting: CONFIG has the key {key!r}; it may have {', '.join(_KEYS)}"
            )
        if not isinstance(value, wanted):
            raise InvalidArgumentError(
                f"MQTT setting: CONFIG's {key!r} is a {type(value).__name__}, expected a {wanted.__name__}"
            )
    is_tls = bool(given.get("tls", options.tls or "ca_certs" in given))
    host, port = _place(given.get("address") or options.address, _PORTS[is_tls])
    access = cc.service(ACCESS)
    access.connecting(f"{host}:{port}" if ":" not in host else f"[{host}]:{port}")
    files = {key: str(access.reading(given[key])) for key in _FILES if key in given}
    return Settings(
        host,
        port,
        str(given.get("client_id") or getattr(options, "client_id", "")),
        given.get("username"),
        given.get("password"),
        _context(files) if is_tls else None,
    )


def _place(address: str, usual: int) -> tuple[str, int]:
    if not address:
        raise InvalidArgumentError(
            "the MQTT settings have no address of a broker; set it in the options, or give the side packet "
            'CONFIG, a dict, the key "address"'
        )
    host, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):
        host, port = address, str(usual)
    host = host.strip("[]")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16 or "/" in address or "@" in address:
        raise InvalidArgumentError(
            f'MQTT setting: the broker\'s address is {address!r}; write "HOST:PORT", such as "10.0.0.5:1883"'
        )
    return host, int(port)


def _context(files: dict[str, str]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=files.get("ca_certs"))
        if "certfile" in files:
            context.load_cert_chain(files["certfile"], files.get("keyfile"))
    except (OSError, ssl.SSLError) as error:
        raise InvalidArgumentError(
            f"MQTT setting: the TLS files of CONFIG cannot be used: {error}"
        ) from error
    return context

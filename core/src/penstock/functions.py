"""The door to `penstock_functions`; penstock-functions declares it."""

from penstock.doors import behind, member

_MODULE = behind("functions")


def __getattr__(name: str) -> object:
    return member(_MODULE, name)

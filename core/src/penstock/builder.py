"""The door to `penstock_builder`; penstock-builder declares it."""

from penstock.doors import behind, member

_MODULE = behind("builder")


def __getattr__(name: str) -> object:
    return member(_MODULE, name)

"""The door to `penstock_testing`; penstock-testing declares it."""

from penstock.doors import behind, member

_MODULE = behind("testing")


def __getattr__(name: str) -> object:
    return member(_MODULE, name)

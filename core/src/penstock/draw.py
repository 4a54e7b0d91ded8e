"""The door to `penstock_views.draw`; penstock-views declares it."""

from penstock.doors import behind, member

_MODULE = behind("draw")


def __getattr__(name: str) -> object:
    return member(_MODULE, name)

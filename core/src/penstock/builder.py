"""The door to `penstock_builder`; penstock-graphs declares it."""

from penstock.doors import door

__getattr__ = door("builder")

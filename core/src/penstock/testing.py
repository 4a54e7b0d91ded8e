"""The door to `penstock_testing`; penstock-testing declares it."""

from penstock.doors import door

__getattr__ = door("testing")

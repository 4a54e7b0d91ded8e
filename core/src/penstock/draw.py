"""The door to `penstock_views.draw`; penstock-views declares it."""

from penstock.doors import door

__getattr__ = door("draw")

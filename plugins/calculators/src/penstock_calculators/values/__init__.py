"""Arithmetic: bools, numbers, bytes and matrices."""

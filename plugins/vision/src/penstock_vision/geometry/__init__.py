"""Sizes, boxes and matrices, computed as the reference computes them."""

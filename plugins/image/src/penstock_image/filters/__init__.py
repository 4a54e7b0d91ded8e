"""Filters of pixels: edges, noise, brightness, points."""

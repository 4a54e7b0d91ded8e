"""Landmarks: projected, smoothed over time, refined, and turned into other messages."""

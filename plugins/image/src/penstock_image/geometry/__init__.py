"""Cropping, scaling, turning and mirroring."""

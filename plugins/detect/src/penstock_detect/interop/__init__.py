"""Detections to and from other libraries' types, and their annotators as calculators."""

"""Detections, rectangles, landmarks and masks."""

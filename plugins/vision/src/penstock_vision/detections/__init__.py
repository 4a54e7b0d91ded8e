"""Detections: kept, joined, moved, and turned into rectangles and landmarks."""

"""Rectangles: made of landmarks and detections, moved, and followed from frame to frame."""

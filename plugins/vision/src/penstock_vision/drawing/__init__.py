"""Detections, landmarks and rectangles as drawings, and drawings laid over images."""

"""Tensors to and from lists, matrices, images and detections, number by number."""

"""Streams in the viewer Rerun: pictures, boxes, landmarks, points and numbers on the packets' timeline."""

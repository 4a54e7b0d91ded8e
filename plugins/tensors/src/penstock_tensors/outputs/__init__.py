"""The tensors of a model as detections, landmarks, classes and masks."""

"""Images, landmarks and arrays as the tensors of a model."""

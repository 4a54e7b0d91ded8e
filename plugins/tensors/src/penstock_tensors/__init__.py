"""Images to tensors, models, and what models say."""

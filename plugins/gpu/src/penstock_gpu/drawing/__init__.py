"""What calculators draw with: programs, uniforms, a quad, a helper for each node and a base for filters."""

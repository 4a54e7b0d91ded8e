"""The parts of `simulated_scale.py`: what drivers cost, how keys fall on them, and drivers simulated."""

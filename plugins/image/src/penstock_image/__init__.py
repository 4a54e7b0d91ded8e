"""Calculators for images in main memory, on OpenCV. `plugin` lists their names."""

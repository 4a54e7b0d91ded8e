"""Calculators on images in main memory, on OpenCV. Graphs name them; `plugin` lists them."""

"""Intervals, tests of calibration and comparisons of models."""

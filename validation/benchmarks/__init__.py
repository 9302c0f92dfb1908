"""Benchmarks: two things timed in one run, told as a ratio, because absolute times are noise."""

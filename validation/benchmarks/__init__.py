"""Benchmarks: two things timed in one run and compared by their ratio, because absolute times are noise."""

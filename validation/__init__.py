"""Validation of the software: recorded answers of R, the coverage study and the benchmarks."""

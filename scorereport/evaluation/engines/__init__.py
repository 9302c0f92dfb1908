"""Evaluations of data larger than memory, by DuckDB, or larger than a machine, by Spark."""

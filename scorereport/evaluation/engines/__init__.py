"""The same summaries from data larger than memory, by DuckDB, or larger than a machine, by Spark."""

"""The engine for data larger than a machine: Spark cuts rows into ranges, and digests each where it lies."""

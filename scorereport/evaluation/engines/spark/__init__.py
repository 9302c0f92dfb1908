"""The engine for data larger than a machine: Spark partitions rows by forecast and digests each partition."""

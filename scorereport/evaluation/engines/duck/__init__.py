"""The engine for data larger than memory: DuckDB sorts on disk and streams sorted rows into digests."""

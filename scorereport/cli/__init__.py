"""The command line: `scorereport` and `python -m scorereport`."""

from scorereport.cli.entry_point import main

__all__ = ["main"]

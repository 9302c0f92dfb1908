"""Entry point of `python -m scorereport`, the command line."""

from scorereport.cli import main

main()

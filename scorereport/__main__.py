"""`python -m scorereport` is the command line."""

from scorereport.cli import main

main()

"""The study that the software is right: recorded answers, tables of the papers, benchmarks."""

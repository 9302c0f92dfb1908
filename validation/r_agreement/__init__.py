"""Agreement with R packages: each quantity of ours, theirs, and where definitions differ both formulas."""

"""The R package `scorereport`: its source, and its installation into a library of R."""

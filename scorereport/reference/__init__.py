"""Comparison of the numbers of an evaluation with an independent implementation in R."""

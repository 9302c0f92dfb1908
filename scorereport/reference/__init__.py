"""A second implementation, in R, confirms the numbers of an evaluation."""

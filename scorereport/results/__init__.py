"""`Evaluation` and its records, which evaluations fill and reports, plots and audits read."""

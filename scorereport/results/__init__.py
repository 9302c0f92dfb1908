"""`Evaluation` and its records: all below fill them, all above read them."""

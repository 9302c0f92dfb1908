"""Examples with public data: models, their predictions, and the configurations of their reports."""

"""Examples on public data: models, their predictions, and the configuration of their reports."""

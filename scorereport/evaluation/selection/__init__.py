"""Choosing among checkpoints of a model, or candidates."""

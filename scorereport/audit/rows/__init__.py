"""Rows of an audit: where they come from, and which of them belong to its period."""

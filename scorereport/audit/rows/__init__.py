"""The rows of an audit: where they come from, and which of them are of its period."""

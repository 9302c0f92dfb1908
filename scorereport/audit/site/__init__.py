"""Static web pages of all audits of a history."""

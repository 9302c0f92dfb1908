"""The static web pages of all audits of a history."""

"""Channels by which people are notified of audits: e-mail, webhook, command."""

"""Ways of telling people what an audit came to: a command, a webhook, an e-mail."""

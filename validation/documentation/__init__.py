"""The documentation site: pages whose code runs, the API reference, and the way of the site into wheels."""

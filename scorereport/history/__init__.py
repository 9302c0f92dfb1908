"""History of audits: an append-only chain of records, each linked to the one before by its hash."""

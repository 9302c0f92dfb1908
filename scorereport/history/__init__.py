"""History of audits: records that are only added, each linked to the one before by its hash."""

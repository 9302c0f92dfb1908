"""Coverage study: how often bands and intervals cover, and how often tests reject, in simulated data."""

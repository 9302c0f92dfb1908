"""How audits of one model compare with each other over time: snapshots, drift, and its tests."""

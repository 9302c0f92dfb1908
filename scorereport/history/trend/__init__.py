"""Trend of the audits of one model: snapshots, drift, and tests for drift."""

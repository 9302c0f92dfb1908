"""Utilities for the whole package: arrays, checks, files, formatting, processes."""

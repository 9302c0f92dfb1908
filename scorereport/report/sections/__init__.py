"""Sections of a report: what each says, from the record of the report alone."""

"""The methods that a report used: formulas, conventions and references."""

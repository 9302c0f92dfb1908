"""The methods that a report used, family by family."""

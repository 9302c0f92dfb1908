"""Tables of an evaluation as text, for the terminal and for reports."""

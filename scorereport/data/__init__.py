"""Tables from files, folders, databases and frames: what they are, and their columns with raw values."""

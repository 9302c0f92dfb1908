"""Tables become checked predictions: files, folders, databases and frames, their columns and roles."""

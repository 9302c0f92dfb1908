"""Records of a history held against what runs write: documents, files, periods, and each other."""

"""Other Python implementations, compared with the engine wherever they define the same number."""

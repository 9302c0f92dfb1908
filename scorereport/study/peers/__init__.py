"""Other Python implementations, held against the engine wherever they define the same number."""

"""Five papers: their numbers computed again, and their errata with a proof or counterexample each."""

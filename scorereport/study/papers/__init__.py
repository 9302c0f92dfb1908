"""Five papers: their numbers computed anew, and their errata with a proof or counterexample each."""

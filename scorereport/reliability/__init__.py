"""CORP: isotonic recalibration as blocks, and the score decompositions that follow from it."""

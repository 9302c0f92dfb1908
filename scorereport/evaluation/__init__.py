"""The evaluation of models of K classes: scores, binary views of them, comparisons, groups."""

"""The catalogue of methods: what each measure, band, test and interval is, as a formula in plain text.

Symbols are explained once, in `symbols`. Whoever changes a kernel changes its formula here too; the tests
evaluate these formulas on small samples.
"""

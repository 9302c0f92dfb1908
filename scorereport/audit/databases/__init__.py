"""Rows of a database: of a query or a table, only ever read, without a word of its address.

The address holds secrets. Whatever goes wrong is told in a sentence of ours; of what a database says only
that is passed on which names tables, columns or words of the query.
"""

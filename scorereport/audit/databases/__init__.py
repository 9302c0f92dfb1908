"""Rows of a database: of a query or a table, only ever read, without its address in any message.

The address holds secrets. Errors are described in sentences of this package; a message of the database is
passed on only if it names nothing but tables, columns or parts of the query.
"""

"""The commands: arguments to functions, exit codes; nothing else.

Everything heavy is imported inside them, so that `--help` answers at once.
"""

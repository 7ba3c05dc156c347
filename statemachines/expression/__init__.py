"""Expressions: a strict, typed subset of CEL with a few listed functions, compiled to Python source.

`parse` gives a syntax tree, `check` gives it types and refuses what cannot mean anything, `emit` turns
it into Python. Each knows only the one before it.
"""

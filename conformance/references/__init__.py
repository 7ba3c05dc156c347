"""A right implementation of each life cycle, written by hand from its description and never from the model.

This floor has no door: each module is opened by its name, as anybody's system is (see `targets`).
"""

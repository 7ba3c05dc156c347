"""A right implementation of each life cycle, written by hand from its description and never from the model.

They know neither the spec nor the generated model: two independent readings that must agree. A method that starts with
an underscore is one rule, so that a wrong implementation is a small subclass.

This floor has no door: each module is opened by its name, as anybody's system is (see `targets`).
"""

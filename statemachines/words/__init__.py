"""What the names of one life cycle mean in an expression: its types, constants, fields and definitions.

`Words` looks every name up; a name that is missing gets a diagnostic with the nearest one.
"""

from __future__ import annotations

from statemachines.words.types import name_of_new, variable_of
from statemachines.words.words import Words, plain_field, plain_fields, record_literal

"""What a report says to people. Every rendering is a function of the report alone, and all say the same.

`content` holds what is said, in which order and words; `view` shows it as it comes; the other modules decide
how it looks.
"""

from __future__ import annotations

from conformance.render.view import View as View
from conformance.render.view import show as show

__all__ = ["View", "show"]

"""The skeleton of an adapter, in each language that there is one for, and operations in words as `explain` says them too.

`skeleton` writes one.
"""

from __future__ import annotations

from conformance.skeleton.facts import refusals, shape
from conformance.skeleton.languages import WRITERS, skeleton

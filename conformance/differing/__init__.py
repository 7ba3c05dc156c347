"""Two revisions of a spec: what each says otherwise, and whether systems that are right by the old one still are.

`differing` returns the `SpecDiff`: each change with its class, and with the shortest calls that tell the two apart.
"""

from __future__ import annotations

from conformance.differing.difference import Grade, Part, Spec, SpecDiff, differing
from conformance.differing.text import as_page, as_plain

"""What the model of a spec comes to in its small scope: what it reaches, what it never does, and the shortest calls to each.

`explored` returns the `Findings`; `rows_of` writes the calls as rows to put into the spec.
"""

from __future__ import annotations

from conformance.exploring.findings import Findings, OneSided, Unmet, explored
from conformance.exploring.text import as_page, as_plain
from conformance.exploring.witness_rows import WitnessRows, rows_of

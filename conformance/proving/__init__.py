"""Is a suite any good? Mistakes are put into a spec's own model, one by one, and its rows have to find them.

`proved` tries all of them and returns a `Proof`: which row finds which mistake, what survives, and which rows find nothing.
"""

from __future__ import annotations

from conformance.proving.proof import Proof, proved
from conformance.proving.text import as_page, as_plain
from conformance.proving.trial import MutantResult

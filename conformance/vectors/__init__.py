"""What rows and a tour of the model call, with every answer that is allowed: for those who want no kit at run time.

`exported` makes the vectors of a life cycle for some limits and choices; `as_json` and `as_itf` write them.
"""

from __future__ import annotations

from conformance.vectors.document import as_json
from conformance.vectors.export import Export, exported
from conformance.vectors.itf import as_itf

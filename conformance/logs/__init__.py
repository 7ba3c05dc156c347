"""What a system logged, checked against its life cycle: no adapter, and no call is made.

`checked` follows a log from its first line with the judge's configurations, read as a map says: `read_map`, or `of_spans`
for OpenTelemetry; `written` and `plain` tell of it.
"""

from __future__ import annotations

from conformance.logs.reading import LogMap, of_spans, read_map, usual
from conformance.logs.text import exit_of, plain, written
from conformance.logs.ways import LogResult, checked

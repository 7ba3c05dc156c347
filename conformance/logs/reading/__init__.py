"""From the lines of a log to calls and signals, as a map says: in the values of the spec, and in their order.

`read_map`, `of_spans` and `usual` give maps, `Source` gives lines, `EntryReader` what is in them, and `Ordering` puts that in order.
"""

from __future__ import annotations

from conformance.logs.reading.entries import FIRST_SHOWN, EntryReader
from conformance.logs.reading.fields import MS
from conformance.logs.reading.items import Item, LoggedCall, LoggedSignal, Unended, called, texts_of
from conformance.logs.reading.lines import BadLine, LogLine, Source, parsed
from conformance.logs.reading.map_file import read_map
from conformance.logs.reading.mapping import LogMap, of_spans, usual
from conformance.logs.reading.order import Ordering

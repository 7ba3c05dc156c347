"""The states of a record, read from the kernel: as arrows, as a diagram, and as a machine of the package `transitions`.

`arrows` walks what leads a record where; `mermaid` writes the diagrams that `conformance draw` prints; `machine` makes
a live machine, and `machine_module` writes it as a module.
"""

from __future__ import annotations

from statemachines.draw.as_transitions import machine, machine_module
from statemachines.draw.chart import Arrow, arrows, targets
from statemachines.draw.diagram import mermaid

"""Kernel → Python source: one readable module for a life cycle, standard library only, byte-stable.

`module` is what is compiled in memory, `standalone` what `conformance generate` writes.
"""

from __future__ import annotations

from statemachines.generate.python_module import module, standalone
from statemachines.generate.state import keeps, message_names, record_names
from statemachines.generate.writer import WIDTH, Writer

"""An adapter tried alone: whether it can be asked at all, step by step, and what to mend where it cannot.

No rule of the life cycle is judged here.
"""

from __future__ import annotations

from conformance.doctor.examination import examined
from conformance.doctor.step import State, Tried, exit_of
from conformance.doctor.text import written

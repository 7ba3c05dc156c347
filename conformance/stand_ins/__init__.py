"""Systems that nobody wrote, made from a spec alone: its model, or a wrong one; and those that answer nothing of use.

They show what the rows and the searches of a spec can see before there is a system to run them against.
"""

from __future__ import annotations

from conformance.stand_ins.dead import dead_systems
from conformance.stand_ins.model import ModelSystem, model_system
from conformance.stand_ins.races import Race, races_of, racing_system

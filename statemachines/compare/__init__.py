"""Two models of one life cycle beside each other: a spec and a mutant of it, or two revisions.

`ModelComparison` walks the configurations of a small scope in both, and finds the shortest calls that tell them apart.
"""

from __future__ import annotations

from statemachines.compare.telling_apart import ModelComparison, Parting

"""Two models of one life cycle beside each other: a spec and a mutant of it, or two revisions.

`ModelComparison` walks the configurations of a small scope in both, and finds the shortest calls that tell them apart.
`changes` are what two revisions say otherwise, `groups_alone` those of them that can be made alone, and `RevisionComparison` does the
same as the first for two of these.
"""

from __future__ import annotations

from statemachines.compare.revisions import (
    UNSAID,
    WAITS,
    Declared,
    RevisionComparison,
    Way,
    alike,
    values_of,
)
from statemachines.compare.standing_alone import ChangeGroup, groups_alone
from statemachines.compare.telling_apart import ModelComparison, Parting
from statemachines.compare.touched_code import touched
from statemachines.compare.tree_changes import Kind, SpecChange, changes, shown, with_changes

"""Every reachable configuration of a small scope, and the shortest calls that lead to it.

`explore` walks them, and a `SearchWatch` notes what is met on the way; `choosers` and `worth_trying` say which arguments are worth a try.
"""

from __future__ import annotations

from statemachines.explore.candidates import (
    Chooser,
    Gone,
    choosers,
    fewer,
    may_name,
    worth_trying,
)
from statemachines.explore.explorer import Exploration, Violation, explore
from statemachines.explore.guards import Guard
from statemachines.explore.influence import Influence
from statemachines.explore.instants import TIMER, Instants, instants_of
from statemachines.explore.messages import MessageFacts
from statemachines.explore.numbers import bounds_of, numbers_beside, numbers_compared, numbers_held, numbers_said
from statemachines.explore.sentences import walked
from statemachines.explore.small_scope import SmallScope, leave_out, scopes
from statemachines.explore.telling import CanBeTold, states_of, tellings, to_be_seen
from statemachines.explore.watching import MISSING, THERE, Cell, FirstMet, Reached, SearchWatch, answered

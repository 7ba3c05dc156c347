"""Every reachable configuration of a small scope, and the shortest calls that lead to it.

`explore` walks them; `choosers` and `worth_trying` say which arguments are worth a try.
"""

from __future__ import annotations

from statemachines.explore.candidates import Chooser, Gone, choosers, may_name, worth_trying
from statemachines.explore.explorer import Exploration, Reached, Violation, explore
from statemachines.explore.influence import Influence
from statemachines.explore.messages import MessageFacts
from statemachines.explore.sentences import walked
from statemachines.explore.small_scope import SmallScope, leave_out, scopes

"""Right background-tasks implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.background_tasks.blocking import BlockingTasks
from tests.right.background_tasks.condition import ConditionTasks
from tests.right.background_tasks.transitions import TransitionTasks

RIGHT: list[type] = [ConditionTasks, TransitionTasks, BlockingTasks]

__all__ = ["RIGHT", "BlockingTasks", "ConditionTasks", "TransitionTasks"]

"""Wrong implementations of task-progress, one named lie each, and the row that must catch it."""

from tests.faulty.collecting import collected
from tests.faulty.task_progress.lie import Lie

__all__ = ["FAULTY", "Lie"]

FAULTY: list[type[Lie]] = collected(__name__, __path__, Lie, "row")

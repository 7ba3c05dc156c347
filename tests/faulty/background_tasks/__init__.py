"""Wrong implementations of background-tasks, one named lie each, and the row that must catch it."""

from tests.faulty.background_tasks.lie import Lie
from tests.faulty.collecting import collected

__all__ = ["FAULTY", "Lie"]

FAULTY: list[type[Lie]] = collected(__name__, __path__, Lie, "row")

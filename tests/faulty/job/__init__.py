"""Wrong implementations of job, one named lie each, and the row that must catch it."""

from tests.faulty.collecting import collected
from tests.faulty.job.lie import Lie

__all__ = ["FAULTY", "Lie"]

FAULTY: list[type[Lie]] = collected(__name__, __path__, Lie, "row")

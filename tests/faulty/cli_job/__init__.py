"""Wrong implementations of cli-job, one named lie each, and the row that must catch it."""

from tests.faulty.cli_job.lie import Liar, Lie
from tests.faulty.collecting import collected

__all__ = ["FAULTY", "Lie"]

FAULTY: list[type[Lie]] = [each.system for each in collected(__name__, __path__, Liar, "system")]

"""Wrong implementations of local-agent, one named lie each, and the row that must catch it."""

from tests.faulty.collecting import collected
from tests.faulty.local_agent.lie import Lie

__all__ = ["FAULTY", "Lie"]

FAULTY: list[type[Lie]] = collected(__name__, __path__, Lie, "row")

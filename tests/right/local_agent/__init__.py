"""Right local-agent implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.local_agent.values import ValueAgents

RIGHT: list[type] = [ValueAgents]

__all__ = ["RIGHT", "ValueAgents"]

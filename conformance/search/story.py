"""What has happened so far, as far as it makes the next call a new one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

Label = Hashable  # what a call did


@dataclass(slots=True)
class Story:
    """What has happened last to each id, two calls of it, and last of all, and to which id; in a case or in thought."""

    last: dict[Hashable, tuple[Label, ...]] = field(default_factory=dict)
    before: Label = ""
    about: Hashable = None
    given: dict[Hashable, tuple[str, Hashable]] = field(default_factory=dict)
    """What each argument was last, of all and of each id: as it is written, and of what kind."""
    when: dict[Hashable, int] = field(default_factory=dict)  # the instant of the last call of each id
    twice: Label = ""  # what the last two calls did, where that is the same

    def fork(self) -> Story:
        """Return another one that goes on from here."""
        return Story(dict(self.last), self.before, self.about, dict(self.given), dict(self.when), self.twice)

"""How much of a spec is tried: one value, passed along by the exploration of a small scope and by `check`."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a spec is tried before it is taken to be right. All numbers are counts, except an instant."""

    # The exploration of a small scope
    small_scope: bool = True  # `check` explores it
    states: int = 5_000  # configurations of each scope
    transitions: int = 50_000  # steps in each scope: lists in arguments make these many, and configurations few
    forced_steps: int = 50  # that had to follow one another: more are taken to follow for ever
    idle_until: int = 3  # the instant until which time passes where no timer says how far

    # The rows on the model
    elsewhere: bool = True  # they are run with limits and policies other than the defaults
    small_limits: int = 5  # limits below this are tried, the smallest with which a row runs
    large_row: int = 500  # records that a row creates, above which it is run with the defaults alone
    orders: int = 200  # of calls made at once, where there are more than four of them
    own_steps: int = 10_000  # that the model takes by itself in one run: after more it is taken never to rest

    def quick(self) -> Bounds:
        """Return the bounds of a quick look: no small scope, and rows with the defaults alone."""
        return replace(self, small_scope=False, elsewhere=False)


USUAL = Bounds()
"""What is tried if nobody asks for less."""

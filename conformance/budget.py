"""How much a run does: one value, made where a run begins and passed along to all that counts or gives up."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run does, and when it has seen enough. Numbers are counts, unless a name ends in `seconds`.

    `Budget()` is what a run does if nobody asks for less.
    """

    # Rows
    whole: bool = True  # if not, a row that draws values, or has several orders, may pass by chance
    examples: int = 12  # drawn values of a row, beside its witness
    examples_at_once: int = 3  # the same, of a row that makes calls at once
    repeats: int = 3  # runs of a failure, before it is called flaky

    # Rows that make calls at once
    schedules: int = 40  # of one combination of a row's values
    schedules_of_all: int = 160  # of all combinations together
    schedules_of_each: int = 3  # of each combination, at least: of three schedules one counts instructions
    crowd: int = 500  # calls at once, of which more run under fewer schedules, for each shows as much
    schedules_of_crowd: int = 3  # of a row with so many calls
    more_schedules: int = 200  # at most, while nothing overlapped, or showed what the row is about

    # The stateful test of Hypothesis, walks, and concurrent pairs
    stateful_tests: int = 4
    stateful_steps: int = 30  # calls of each
    walks: int = 24  # and as many beside those, that take more for new and look less often
    walk_steps: int = 30  # calls of each
    pairs: int = 110  # situations in which calls are made at once, of all operations together
    meetings: int = 4  # of two calls each, or three, one after the other from such a situation
    calls_before: tuple[int, int] = (2, 7)  # least and most calls that lead to such a situation
    calls_after: int = 3  # calls that follow the pair
    draws: int = 8  # of arguments, of which one may do something
    waiting_seconds: float = 120.0  # in all searches, for what a system declares to come later
    prefilled: int = 200  # records that a case begins with, at most: a larger retention is not filled up

    # The judge
    configurations: int = 256  # explanations of a case that are held at once
    own_steps: int = 2_000  # configurations that steps of the system's own lead to between two calls
    ways_of_time: int = 5_000  # configurations, and timers that fire, while time passes
    answers: int = 128  # ways in which a call may lie to deadlines, where nobody knows when exactly it was
    linearized: int = 12  # calls at once whose every order is searched; more are followed in the order of their ends
    few_callers: int = 3  # whose orders are few
    linearized_of_few: int = 60  # calls at once of so few callers whose every order is searched
    few_told: int = 4  # messages of which a step of the system's own may tell any first, beside another one
    nodes: int = 20_000  # steps of such a search before it gives up
    explain_steps: int = 10_000
    """Configurations that are looked at as calls are judged again, to find a clause without which a divergence is explained."""
    readings: int = 3  # copies that are looked at again after every call

    # A counterexample again
    reproductions: int = 40  # schedules under which a failure with calls at once is sought again
    more_reproductions: int = 4  # times as many while it has not shown again
    reproduce_seconds: float = 10.0  # after which it is shrunk all the same, or is counted in no more schedules
    confirmations: int = 3  # runs that all show a fault, or it depends on chance
    shrink_seconds: float = 3.0  # for a trace or a row
    shrink_seconds_at_once: float = 12.0  # for a trace with calls at once
    attempt_seconds: float = 0.6  # for one shorter trace, under one schedule after the other
    hang_seconds: float = 0.4  # for a call, while a hang is shrunk
    replays: int = 48  # schedules under which a saved one with calls at once is run
    more_replays: int = 4  # times as many while it has not failed; without calls at once, times what it took before
    replay_seconds: float = 3.0  # after which only as many are run as have to be: calls that hang take long

    of_a_system: bool = False  # it is cut down to what one system takes

    def for_system(self, settles: int, *, costly: bool) -> Budget:
        """Return the budget for a system that settles so many milliseconds after a call, and whose calls may take long.

        One that is for a system is not cut down again, however often it is handed on.
        """
        if self.of_a_system:
            return self
        fewer = self.costly() if costly else self
        return replace(fewer.settling(settles), of_a_system=True)

    def quick(self) -> Budget:
        """Return the budget of a quick look: a quarter of the schedules and searches, and no drawn values; all that rows name."""
        return replace(
            self,
            whole=False,
            examples=0,
            examples_at_once=0,
            schedules=_quarter(self.schedules),
            schedules_of_all=_quarter(self.schedules_of_all),
            schedules_of_each=_quarter(self.schedules_of_each),
            schedules_of_crowd=_quarter(self.schedules_of_crowd),
            stateful_tests=_quarter(self.stateful_tests),
            walks=_quarter(self.walks),
            pairs=_quarter(self.pairs),
            waiting_seconds=self.waiting_seconds / 4,
        )

    def settling(self, milliseconds: int) -> Budget:
        """Return the budget for a system that is waited for after each call: its searches make fewer cases."""
        of_a_pair = sum(self.calls_before) / 2 + 2 * self.meetings + self.calls_after
        of_walks = 2 * self.walks * self.walk_steps
        calls = self.stateful_tests * self.stateful_steps + of_walks + self.pairs * of_a_pair
        share = self.waiting_seconds * 1_000 / max(calls * milliseconds, 1)
        if share >= 1:
            return self
        return replace(
            self,
            stateful_tests=_share(self.stateful_tests, share),
            walks=_share(self.walks, share),
            pairs=_share(self.pairs, share),
        )

    def costly(self) -> Budget:
        """Return the budget for a system of which each call takes long, such as one that starts a process."""
        return replace(
            self,
            examples=0,
            examples_at_once=0,
            schedules=2,
            schedules_of_each=2,
            schedules_of_crowd=2,
            more_schedules=0,
            stateful_tests=2,
            walks=0,
            prefilled=20,
            pairs=10,
            meetings=1,
            reproductions=2,
            shrink_seconds=5 * self.shrink_seconds,
            shrink_seconds_at_once=5 * self.shrink_seconds_at_once,
        )


def _quarter(count: int) -> int:
    return _share(count, 1 / 4)


def _share(count: int, share: float) -> int:
    return min(count, max(int(count * share), 1))


USUAL = Budget()
"""What a run does if nobody asks for less."""


def never() -> bool:
    """Return that the time is not used up: for a search that takes as long as it takes."""
    return False

"""Any two calls at once, or some more: in a random situation calls overlap, of any operations; sooner or later everybody looks.

A row makes calls at once where its source speaks of it. What nobody thought of comes here: a list beside a start,
a cancel of all beside an ending, two endings of different jobs. Some order of the calls, one after the other,
has to explain what they gave, and whatever the observers see afterwards. Of what could be called in a situation the model
tells what comes to most: calls of which each makes a difference to the other, and that seldom met so far. One idea: the meeting.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from conformance.budget import Budget
from conformance.judge import CallFailed, case_seed, endless
from conformance.search.clashes import Asked, Calls, a_look_tells, calls_of, comes_to, only_a_look_tells
from conformance.search.faults import Diverged, Faults
from conformance.search.meetings import Meetings, Pair
from conformance.search.odd_values import LONG_WAIT
from conformance.search.own_replies import filled_in
from conformance.search.prefill import one_place_left, prefills
from conformance.search.stateful import Driver
from conformance.system import MOVED, Adapter
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import Instants, instants_of
from statemachines.model import BaseModel, Impossible, Restless
from statemachines.rows import WAIT, Observed

CREATING = 4  # as often as others a situation has calls that create something
WAITING_DRAWS = 4  # of arguments, to find some with which a call waits
WAITING = 0.7  # of the pairs in which a call can wait are made where it does
# So often as all others together pairs are tried of one operation with itself: what may be done once is done twice.
WITH_ITSELF = 0.3
# So often as all others together come pairs in which a call can wait, beside those that come anyhow: who waits is woken by few of them.
OF_WAITING = 0.4
BOTH_CHANGE = 2  # as often as others pairs come that both change something
# Of the meetings are of three calls: of two that wait each may be left to the other. And the same where one of them waits.
THREE, THREE_WHERE_ONE_WAITS = 0.1, 0.5
LOOKED_BETWEEN = 0.5  # how often the observers look after a meeting that others follow
# How often one of two callers looks right after its call, beside the other one: where only that tells it that its call came first, or the
# other one asks the same; and elsewhere.
LOOKED_TO_TELL, LOOKED_BESIDE = 0.8, 0.3
LOOKS_DRAWN = 4  # to find one that tells it
# How often one of two callers makes another call that changes something, beside the other one; and where that only looks: what it reads may be
# half of each.
GOES_ON, GOES_ON_BESIDE_A_LOOK = 0.12, 0.4
TELLING_DRAWS = 6  # of calls that follow, of which one is made
FULL = 0.15  # of the situations begin with as many records as there may be, or about as many
# Of the calls that lead to a meeting come after a while, of so many milliseconds: what is counted from now is not what is counted from then.
A_WHILE_PASSES, A_WHILE = 0.15, (1, 7, 30)
TIME_PASSES = 0.5  # of the cases end when time has passed, so that what is tried again, or leaves, has come about
FOR_LONG = 0.7  # of the calls that wait do so for long, where they may: who is not woken comes back when the time is over, which tells only then
COMES_LATER = 0.4  # of the meetings in which a call waits for long the others come when some time has passed, of so many milliseconds
AFTER_MS = (
    25,
    250,
)  # more than those that wait for less mostly do; what is left is more than a call may take that looks now and then
WAITS_AGAIN = 0.5  # of the later meetings of such a situation a call waits as well, if it can then: who was woken once must be again
MADE_ANYWAY = 0.5  # of the situations in which a call waits come about by some calls that are made also where it could wait sooner
LAST_PLACE = 0.06  # of the situations have one place left, and two come for it
MOST_FULL = 24  # records that may be there at most, for such a situation to be made: each costs a call or more
MOST_LAST = 100  # the same where one place is left, of a system of which a call costs little


def search(
    compiled: Compiled,
    adapter: Adapter,
    number: int,
    budget: Budget,
    *,
    after: Callable[[Driver], object],
    faults: Faults,
    first: int = 0,
    at_once: Collection[str] = (),
) -> None:
    """Make pairs of calls at once, as many as the budget says, or until enough is found; `first` is the number of the first situation.

    `at_once` are operations that rows call at once: those of whoever tests may be, too, then.
    """
    chooser = random.Random(f"{number}/{first}")
    pairs = list(_pairs(compiled, adapter, at_once))
    chooser.shuffle(pairs)
    meetings, instants = Meetings(compiled, pairs, chooser), instants_of(compiled)
    full = prefills(compiled, adapter.declaration, min(MOST_FULL, budget.prefilled))[1:]
    most = MOST_FULL if adapter.costly or adapter.declaration.settles else MOST_LAST
    left = one_place_left(compiled, adapter.declaration, min(most, budget.prefilled))
    last = [(coming, begin) for coming, begin in left if (coming, coming) in pairs]
    for index, pair in zip(range(first, first + budget.pairs), itertools.cycle(pairs), strict=False):
        if faults.over:
            break
        if any(faults.broken.shuns(each.name) for each in pair):
            continue
        driver = Driver(compiled, adapter, budget, seed=case_seed(number, index), faults=faults)
        try:
            if last and chooser.random() < LAST_PLACE:
                coming, begin = chooser.choice(last)
                begin(driver)
                before = driver.case.judge.model.fork()
                met = _meet(driver, meetings, (coming, coming), dict, 1, chooser, only=True)
            else:
                if full and chooser.random() < FULL:
                    chooser.choice(full)(driver)
                waits = any(each.may_wait for each in pair) and chooser.random() < WAITING
                until = partial(_waiting, driver, pair, chooser) if waits else dict
                made_anyway = waits and chooser.random() < MADE_ANYWAY
                anyway = chooser.randint(0, max(budget.calls_before)) if made_anyway else 0
                _situation(compiled, driver, chooser, budget.calls_before, until, anyway)
                before = driver.case.judge.model.fork()
                met = _meet(driver, meetings, pair, until, budget.meetings, chooser)
            if not met:
                continue
            _aftermath(compiled, driver, instants, chooser, budget.calls_after, before)
            faults.stood(driver.case)
        except Diverged:
            pass
        after(driver)


def _pairs(compiled: Compiled, adapter: Adapter, at_once: Collection[str]) -> list[Pair]:
    """List every two operations of which one changes something.

    Of whoever tests there is one at most, and only what rows call at once: what two of those do to each other is no matter of the system.
    """
    operations = [each for each in compiled.kernel.operations if not each.control or each.name in at_once]
    offered = [each for each in operations if adapter.offers(each.name)]
    every = itertools.combinations_with_replacement(offered, 2)
    found = [pair for pair in every if any(each.effects for each in pair) and not all(each.control for each in pair)]
    alike = [(one, other) for one, other in found if one is other]
    apart = [(one, other) for one, other in found if one is not other]
    apart += [pair for pair in apart if all(each.effects for each in pair) for _ in range(BOTH_CHANGE - 1)]
    pairs = [*apart, *alike * max(1, round(WITH_ITSELF * len(apart) / max(1, len(alike))))]
    waiting = [pair for pair in pairs if any(each.may_wait for each in pair)]
    others = len(pairs) - len(waiting)
    return [*pairs, *waiting * round(OF_WAITING * others / max(1, len(waiting)))]


def _situation(
    compiled: Compiled,
    driver: Driver,
    chooser: random.Random,
    calls: tuple[int, int],
    until: Callable[[], object],
    anyway: int = 0,
) -> None:
    """Make some calls, at least and at most so many, one after the other, of which most do something; or until it is time.

    At least `anyway` are made before that is asked: what waits as soon as it can, waits when little has happened.
    """
    offered = [each for each in compiled.kernel.operations if each.effects and driver.offers(each.name)]
    creating = {
        each.name for each in offered if any(isinstance(does, kernel.Create) for does in kernel.walk(each.effects))
    }
    names = [each.name for each in offered for _ in range(CREATING if each.name in creating else 1)]
    passes = driver.case.adapter.declaration.clock in MOVED
    for number in range(max(anyway, chooser.randint(*calls))):
        if number >= anyway and until():
            return
        if passes and chooser.random() < A_WHILE_PASSES:
            driver.made(WAIT, {"ms": chooser.choice(A_WHILE)})
        _made(driver, chooser.choice(names), chooser)


def _waiting(driver: Driver, pair: Pair, chooser: random.Random) -> dict[str, dict[str, Any]]:
    """Return arguments with which calls of a pair wait now, by operation."""
    found = {}
    for operation in (each for each in pair if each.may_wait):
        drawn = (driver.drawn(operation.name, chooser, tries=1) for _ in range(WAITING_DRAWS))
        waiting = (each for each in drawn if each is not None and driver.waits(operation, each))
        if (arguments := next(waiting, None)) is not None:
            long = driver.waiting_long(operation.name) if chooser.random() < FOR_LONG else {}
            found[operation.name] = {**arguments, **long}
    return found


def _meet(
    driver: Driver,
    meetings: Meetings,
    pair: Pair,
    waiting: Callable[[], dict[str, dict[str, Any]]],
    most: int,
    chooser: random.Random,
    *,
    only: bool = False,
) -> int:
    """Let two calls meet, or more, then others in what comes of it, so many times at most; return how many times.

    They are two of this pair alone where `only` that is wanted; `waiting` gives those of which one shall wait. The observers look at once or
    later, but always before anything else is done.
    """
    met, unseen, first = 0, list[dict[str, Any]](), waiting()
    while met < most:
        again = bool(first and met) and chooser.random() < WAITS_AGAIN
        waits = first if not met else waiting() if again else {}
        if (calls := meetings.best(driver, pair, waits, only=only)) is None:
            break
        met += 1
        joins = not only and chooser.random() < (THREE_WHERE_ONE_WAITS if waits else THREE)
        joining = meetings.joining(driver, calls, waits) if joins else []
        made = (*calls, *joining)
        then = None if joining else _beside(driver, meetings, calls, chooser)
        _at_once(driver, made, then, waits, _passing(driver, waits, chooser))
        unseen += [arguments for _, arguments in made]
        if chooser.random() < LOOKED_BETWEEN:
            driver.observe(*unseen)
            unseen = []
    if unseen:
        driver.observe(*unseen)
    return met


def _beside(driver: Driver, meetings: Meetings, calls: Calls, chooser: random.Random) -> tuple[int, Asked] | None:
    """Return which of two callers makes another call as soon as its own is over, beside the other one, and which; None where none does."""
    if (own := meetings.going_on(driver, calls)) is not None:
        return own
    share = GOES_ON_BESIDE_A_LOOK if any(driver.only_shows(name) for name, _ in calls) else GOES_ON
    chosen = meetings.further(driver, calls) if chooser.random() < share else _look_beside(driver, calls, chooser)
    if chosen is None:
        return None
    caller, then = chosen
    one, other = calls[caller], calls[1 - caller]
    with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
        astray = any(map(driver.astray, ((one, then, other), (one, other, then), (other, one, then))))
        return None if astray or endless(driver.case.judge.lockstep, [calls_of(one, then), calls_of(other)]) else chosen
    return None


def _look_beside(driver: Driver, calls: Calls, chooser: random.Random) -> tuple[int, Asked] | None:
    """Return which of two callers looks at what it is about, as soon as its call is over, and how; None where none shall, or can.

    What it has seen by then, the other call must not take back, however late that comes: mostly one looks where its answer does
    not tell that its call came first. And it must not see less than its own call, or one that was over by then, has done: of the looks, it is
    one that tells of that, or what the other one asks as well. Of a system whose effects come later than its replies a look tells nothing yet.
    """
    chance = chooser.random()
    if chance >= LOOKED_TO_TELL or driver.case.judge.lockstep.stepper.declaration.settles:
        return None
    callers = (chooser.randrange(len(calls)) for _ in range(LOOKS_DRAWN))
    drawn = [(caller, look) for caller in callers if (look := driver.look_at(calls[caller][1], chooser)) is not None]
    looks = [call for call in calls if driver.only_shows(call[0]) and not driver.faults.broken.shuns(call[0])]
    asked = [(caller, calls[1 - caller]) for caller in (0, 1) if calls[1 - caller] in looks]

    def said_by(tells: Callable[..., bool], looks: Sequence[tuple[int, Asked]]) -> tuple[int, Asked] | None:
        model = driver.case.judge.model
        return next((each for each in looks if tells(model, calls[each[0]], calls[1 - each[0]], each[1])), None)

    chosen = said_by(only_a_look_tells, drawn) or said_by(a_look_tells, asked)
    if chosen is not None or chance >= LOOKED_BESIDE:
        return chosen
    return said_by(a_look_tells, drawn) or next(iter(drawn), None)


def _passing(driver: Driver, waits: Mapping[str, Mapping[str, Any]], chooser: random.Random) -> int:
    """Return after how many milliseconds others come where calls wait for long; 0 where at once, or a timer fires before."""
    if not any(LONG_WAIT in given.values() for given in waits.values()) or chooser.random() >= COMES_LATER:
        return 0
    model, ms = driver.case.judge.model, chooser.choice(AFTER_MS)
    return 0 if any(first <= model.now + ms for first, *_ in model.deadlines()) else ms


def _at_once(
    driver: Driver,
    calls: Sequence[Asked],
    then: tuple[int, Asked] | None,
    waits: Collection[str] = (),
    passing: int = 0,
) -> None:
    """Make calls at once; one of the callers may make another one after its own.

    Those of operations that do not wait (`waits`) come when so many milliseconds are `passing`.
    """
    wanted = [
        [call, *([then[1]] if then is not None and then[0] == caller else [])] for caller, call in enumerate(calls)
    ]
    if passing:
        wanted = [each if each[0][0] in waits else [(WAIT, {"ms": passing}), *each] for each in wanted]
    bodies = [partial(_in_turn, driver, each) for each in wanted]
    try:
        driver.case.together(bodies)
    except CallFailed as failed:
        raise driver.diverged(failed.finding) from None
    driver.look()


def _in_turn(driver: Driver, calls: Sequence[Asked]) -> None:
    """Make the calls of one caller, one after the other, as long as they have given what the next one is about."""
    before: Observed | None = None
    for operation, wanted in calls:
        arguments = filled_in(wanted, before)
        if arguments is None:
            break
        before = driver.case.call(operation, arguments)


def _aftermath(
    compiled: Compiled, driver: Driver, instants: Instants, chooser: random.Random, calls: int, before: BaseModel
) -> None:
    """Make so many calls more, and look: what no observer shows may come out by what is done next, or as time passes.

    They are such as come to something else than they would have come to before the calls met, if there are some.
    """
    made = []
    for _ in range(calls):
        drawn = filter(None, (_drawn(compiled, driver, chooser) for _ in range(TELLING_DRAWS)))
        first = next(drawn, None)
        if first is not None:
            chosen = next((each for each in itertools.chain([first], drawn) if _tells(driver, before, each)), first)
            made += [chosen[1]] if driver.made(*chosen) else []
    if driver.case.adapter.declaration.clock in MOVED and chooser.random() < TIME_PASSES:
        until = instants.waits(driver.case.judge.model)
        made += [{"ms": ms} for ms in until[-1:] if driver.made(WAIT, {"ms": ms})]
    driver.observe(*made)


def _drawn(compiled: Compiled, driver: Driver, chooser: random.Random) -> Asked | None:
    """Draw a call of any operation that is offered."""
    name = chooser.choice(compiled.kernel.operations).name
    given = driver.drawn(name, chooser) if driver.offers(name) else None
    return None if given is None else (name, given)


def _tells(driver: Driver, before: BaseModel, call: Asked) -> bool:
    """Return whether a call comes to something else now than it would have come to before."""
    with contextlib.suppress(Impossible, Restless):  # the model may be one that lacks a sentence
        return comes_to(before.fork(), call) != comes_to(driver.case.judge.model.fork(), call)
    return False


def _made(driver: Driver, name: str, chooser: random.Random) -> dict[str, Any] | None:
    """Make a call of an operation, unless it is better not made; give what it was called with."""
    arguments = driver.drawn(name, chooser)
    if arguments is None or not driver.may(name, arguments):
        return None
    driver.make(name, arguments)
    return arguments

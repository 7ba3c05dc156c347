"""The model as the thing that a row runs against: it answers as a right implementation may."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from statemachines.kernel import ANY_CODE, Kernel
from statemachines.model import NOTHING, AnyOf, Decision, Outcome, Signal, exemplary
from statemachines.rows.programs import Observed, RowFailure

UNKNOWN_CODE: Final = "a_code_of_its_own"


class _Postponed(Exception):
    """A call that waits lets calls that are made at once go first."""


class ModelSubject:
    """Answers calls by a model that was made by `watched`.

    lenient  where the spec leaves a choice (`open`, `unchanged`), it is carried out, else refused
    eager    it takes every step that it may, sends every signal that may come, even again, and refuses with
             a code that nobody knows where any code will do
    prompt   a timer fires as soon as it may, else as late; so comes what a call ends with
    at_once  calls overlap that are made at once, so that one can wait for what another does; else they come one by one
    order    in this order calls run that are made at once
    descending  each id that it mints comes before those of the records so far
    ascending   each comes after them, also where there are so many that `job-10` comes before `job-2`
    decided  what was decided on the next call before it, in place of what the model says by then; mostly None
    chose    there was something to be lenient about, `could`: to be eager about
    astray   a call was made of which the spec does not say what happens
    """

    settles = 0
    _called = _others = _beside = False

    def __init__(
        self,
        model: Any,
        kernel: Kernel,
        order: Sequence[int] = (),
        *,
        lenient: bool = True,
        eager: bool = False,
        prompt: bool = True,
        descending: bool = False,
        ascending: bool = False,
        at_once: bool = True,
    ) -> None:
        self.model = model
        model.mint = model.descending if descending else model.ascending if ascending else None
        self.limits = model.limits
        self.policies = model.policies
        self.order = order
        self.lenient = lenient
        self.eager = model.eager = eager
        self.prompt = prompt
        self.at_once = at_once
        self.decided: Decision | None = None
        self.chose = self.could = self.astray = False
        self.widest = 0
        self._files = itertools.count(1)
        self._waiting = {operation.name for operation in kernel.operations if operation.waits is not None}
        self._patient = self._waiting | {operation.name for operation in kernel.operations if operation.blocks}

    def call(self, operation: str, arguments: dict[str, Any]) -> Observed:
        """Make one call, and let the steps follow that must, or may. Raises RowFailure where nothing allows it."""
        model = self.model
        again, self._called = self._called, True
        others = self._others and not again
        if operation in self._waiting and others:
            raise _Postponed
        if self._beside and (again or operation in self._patient):
            model.settle()  # the caller's call before this one is over, or all those that it waits for
        if operation == "wait":
            waited = model.wait(arguments["ms"], prompt=self.prompt)
            return self._observed(operation, arguments, NOTHING, *waited, *model.settle())
        decision: Decision = self.decided or model.decide(operation, arguments)
        permitted = Outcome(may=decision.may)
        if decision.blocks and others and self.at_once:
            raise _Postponed
        if decision.avoid or decision.blocks:
            self.astray = True
            needs = "" if self.at_once else ", for calls at once need concurrency"
            said = f"nothing ends the wait of {operation} here{needs}"
            raise RowFailure(said if decision.blocks else f"the spec does not say what {operation} does here")
        if decision.accept and (self.lenient or not decision.refuse):
            self.chose = self.chose or bool(decision.refuse)
            outcome: Outcome = model.do(operation, arguments)
            if isinstance(outcome.value, AnyOf):
                self.chose = self.chose or len({repr(each) for each in outcome.value.options}) > 1
                outcome.value = outcome.value.options[0 if self.lenient else -1]
            if operation in model.telling:
                self._file(outcome.value)
            later = model.ENDING if self._beside else ()  # calls beside it come before what it ends with
            after = [*model.settle(later), *model.wait(0, prompt=self.prompt)]  # what is due at this very instant
            return self._observed(operation, arguments, outcome, *after, permitted)
        if decision.idle and self.lenient:
            self.chose = True
            return self._observed(operation, arguments, permitted)
        self.chose = self.chose or decision.idle or decision.accept
        return self._observed(operation, arguments, permitted, refused=self._code(decision))

    def together(self, bodies: Sequence[Callable[[], Any]]) -> list[Any]:
        """Evaluate bodies one after the other, in this subject's order, and give their values in theirs.

        Those that begin with a call that may wait for a time come last: such a call takes its step at its end. So do
        those that begin with one that cannot come back yet.
        """
        different = len({id(body) for body in bodies}) > 1
        self.widest = max(self.widest, len(bodies) if different else 1)
        order = self.order if len(self.order) == len(bodies) else range(len(bodies))
        found: dict[int, Any] = {}
        late: list[int] = []
        self._beside = not self.prompt
        for index in order:
            self._called, self._others = False, len(found) + len(late) + 1 < len(bodies)
            try:
                found[index] = bodies[index]()
            except _Postponed:
                late.append(index)
        self._others = False
        if self._beside:
            self._beside = False
            self.model.settle()
        found |= {index: bodies[index]() for index in late}
        return [found[index] for index in range(len(bodies))]

    def _observed(
        self, operation: str, arguments: dict[str, Any], *outcomes: Outcome, refused: str | None = None
    ) -> Observed:
        """Return a call with what came of it: the value of the first outcome, and the signals of all of them."""
        came: list[Signal] = []
        for each in outcomes:
            came += (*each.signals, *each.again)
            if each.may or each.again:
                self.could = True
                came += (*each.may, *each.again) if self.eager else ()
        self.could = self.could or self.model.could
        signals = [(name, tuple((field, exemplary(value)) for field, value in told)) for name, told in came]
        return Observed(operation, arguments, exemplary(outcomes[0].value), refused, tuple(signals))

    def _file(self, value: Any) -> None:
        """Name a file for every document that is told in one."""
        if isinstance(value, list):
            for each in value:
                self._file(each)
        elif isinstance(value, dict):
            for each in value.values():
                self._file(each)
        elif getattr(value, "inline", None) is False and value.file is None:
            value.file = f"file-{next(self._files)}"

    def _code(self, decision: Decision) -> str:
        """Choose the code of a refusal: the first that may be; where any may be, a likely one or an unknown one."""
        free = decision.idle or ANY_CODE in decision.refuse
        self.could = self.could or free
        if free and self.eager:
            return UNKNOWN_CODE
        if not decision.refuse:
            return "wrong_state"
        return "not_found" if decision.refuse == (ANY_CODE,) else decision.refuse[0]

"""The whole examination: first the messages, where there are any, then the operations, the clock and the signals."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Final

from conformance.doctor.messages import examine_messages, examine_two
from conformance.doctor.step import ADVICE, Exchange, State, Tried, Trying, Wrong
from conformance.judge import Case
from conformance.refused import Refused
from conformance.remote import RemoteAdapter
from conformance.suite import RowRunner, tried_alone
from conformance.system import MOVED, Adapter, Broken, told
from conformance.targets import link_of, open_system
from statemachines.compile import Compiled
from statemachines.rows import Observed, RowCompiler

_HOUR: Final = 3_600_000  # milliseconds
_REPLY: Final = 60  # characters of a reply
_SLOW: Final = 0.5  # of the time that a call may take: beyond it a busy machine makes a hang of it


def examined(compiled: Compiled, target: str, seconds: float) -> list[Tried]:
    """Return the steps of an examination. Raises UsageError for a target that names nothing."""
    exchange, steps = Exchange(), list[Tried]()
    if (opened := link_of(target, exchange)) is not None:
        examine_messages(compiled, opened, exchange, seconds, steps)
        if any(step.state is State.FATAL for step in steps):
            return steps
    adapter: Adapter | None = None
    with Trying("declares", exchange, steps, fatal=True) as say:
        adapter = open_system(compiled, target, exchange)
        adapter.limit = seconds
        say(_declared(adapter))
    if adapter is None:
        return steps
    try:
        with Trying("a new system", exchange, steps, fatal=True) as say:
            adapter.ready()
            say("each method takes the parameters of its operation" if opened is None else "it begins empty")
        if steps[-1].state is not State.FATAL:
            _examine_system(compiled, adapter, exchange, seconds, steps)
    finally:
        with Trying("end", exchange, steps) as say:
            adapter.close()
            say("it can be closed")
    return steps


def _declared(adapter: Adapter) -> str:
    declaration = adapter.declaration
    lacks = f"; lacks {', '.join(sorted(declaration.absent))}" if declaration.absent else ""
    return f"clock: {declaration.clock}, concurrency: {declaration.concurrency}{lacks}"


def _examine_system(
    compiled: Compiled, adapter: Adapter, exchange: Exchange, seconds: float, steps: list[Tried]
) -> None:
    firsts, calls = _examine_operations(compiled, adapter, exchange, seconds, steps)
    _examine_refusal(compiled, adapter, calls, exchange, steps)
    declaration = adapter.declaration
    if declaration.clock in MOVED:
        with Trying("clock", exchange, steps) as say:
            adapter.reset()
            adapter.call("wait", {"ms": _HOUR})
            say("an hour passes")
    else:
        steps.append(
            Tried("clock", State.AWAY, f"clock: {declaration.clock}, and nothing to move{_loop_hint(adapter)}")
        )
    if compiled.lifecycle.signals:
        with Trying("signals", exchange, steps) as say:
            adapter.reset()
            if found := adapter.signals():
                raise Wrong(f"a new system has signals already: {told(found, _REPLY)}", "Forget them at `reset`.")
            say("a list, empty in a new system")
    by_name: dict[str, Mapping[str, object]] = {}
    for each in firsts:
        by_name.setdefault(each.operation, each.arguments)
    if isinstance(adapter, RemoteAdapter) and by_name and declaration.concurrency != "none":
        examine_two(adapter.link, [*by_name.items()], exchange, seconds, steps)
    else:
        steps.append(Tried("two at once", State.AWAY, _why_not_two(adapter)))


def _loop_hint(adapter: Adapter) -> str:
    """Say what may be forgotten where async methods say nothing of their clock."""
    declaration = adapter.declaration
    if declaration.clock != "none" or declaration.concurrency != "async" or isinstance(adapter, RemoteAdapter):
        return ""
    return "; if its timers are those of the event loop, declare `clock: virtual`: the kit moves that time"


def _why_not_two(adapter: Adapter) -> str:
    if adapter.declaration.concurrency == "none":
        return "concurrency: none is declared"
    return (
        "no call was made" if isinstance(adapter, RemoteAdapter) else "in this process the kit itself decides the turns"
    )


# ── Operations ──


def _examine_operations(
    compiled: Compiled, adapter: Adapter, exchange: Exchange, seconds: float, steps: list[Tried]
) -> tuple[list[Observed], list[Observed]]:
    """Play short rows until each operation that is offered was called; return the calls that rows began with, and all."""
    runner = RowRunner(compiled, RowCompiler(compiled.lifecycle).checked(), adapter)
    offered = [name for name in compiled.lifecycle.operations if adapter.offers(name)]
    firsts, made = list[Observed](), list[Observed]()
    answered: Counter[str] = Counter()
    slowest = 0.0
    for row in tried_alone(compiled, runner.rows.words, adapter, offered):
        program = runner.rows.program(row)
        values = runner.fixed_values(program)[0]
        with Trying(f"row {row.id.text}", exchange, steps) as say:
            began = time.monotonic()
            case, _ = runner.ran(program, values, 0)
            calls = case.calls
            slowest = max(slowest, (time.monotonic() - began) / max(len(calls), 1))
            _broken(case)
            asked = [call for call in calls if call.operation in offered]  # a wait is no operation
            made += asked
            firsts += asked[:1]
            answered.update(call.operation for call in calls)
            say(", ".join(dict.fromkeys(call.operation for call in calls)))
    for name in offered:
        if not answered[name] and not any(step.wrong for step in steps):
            clockless = " and needs no clock" if adapter.declaration.clock == "none" else ""
            why = f"no row that makes one call at a time{clockless} calls it"
            steps.append(Tried(name, State.AWAY, why))
    if missing := [
        name
        for name, each in compiled.lifecycle.operations.items()
        if not each.optional and not adapter.offers(name) and name not in adapter.declaration.absent
    ]:
        steps.append(
            Tried(
                "operations",
                State.MEND,
                f"there is no {', '.join(missing)}",
                "Add it, or no row that calls it can be run.",
            )
        )
    if slowest > seconds * _SLOW:
        seen, mend = f"a call takes {slowest:.2g} s", f"Answer sooner, or give --call-limit more than {seconds:g} s."
        steps.append(Tried("speed", State.MEND, seen, mend))
    elif made:
        took = float(f"{slowest * 1000:.2g}")  # two digits tell enough
        steps.append(Tried("speed", State.OK, f"a call takes {took:g} ms, and may take {seconds:g} s"))
    return firsts, made


def _broken(case: Case) -> None:
    """Raise Wrong where a call was not answered, or in no form that anybody reads; whether the answer is right, nobody asks here."""
    found = case.finding
    if found is not None and found.kind in ADVICE:
        raise Wrong(found.seen if found.kind != "shape" else f"{found.operation}: {found.seen}", ADVICE[found.kind])


def _examine_refusal(
    compiled: Compiled, adapter: Adapter, calls: list[Observed], exchange: Exchange, steps: list[Tried]
) -> None:
    """Make a call about a record that there is not: in an empty system the calls of before are such."""
    for call in calls:
        expected = _refused_by_model(compiled, adapter, call)
        if not expected:
            continue
        with Trying("refusal", exchange, steps) as say:
            adapter.reset()
            wanted = (
                f'Answer with {{"error": {{"code": 1, "message": "…", "data": {{"refused": "{expected}"}}}}}}.'
                if isinstance(adapter, RemoteAdapter)
                else f'Raise Refused("{expected}").'
            )
            try:
                reply = adapter.call(call.operation, call.arguments)
            except Refused as refusal:
                if refusal.code not in compiled.words.types.codes:
                    raise Wrong(
                        f"{call.operation} is refused as {told(refusal.code)}, which is no code", wanted
                    ) from None
                say(f"{call.operation} of what is not there: {refusal.code}")
                return
            except Broken as broken:
                raise Wrong(f"{call.operation} of what is not there: {broken.message}", wanted) from None
            raise Wrong(f"{call.operation} of what is not there gives {told(reply, _REPLY)}", wanted)
        return
    steps.append(Tried("refusal", State.AWAY, "no call that was made is refused in an empty system"))


def _refused_by_model(compiled: Compiled, adapter: Adapter, call: Observed) -> str:
    """Return the code by which a call on an empty system has to be refused; an empty text where it need not be."""
    declaration = adapter.declaration
    decision = compiled.model(declaration.limits, declaration.policies).decide(call.operation, call.arguments)
    open_ = decision.accept or decision.idle or decision.avoid
    return "" if open_ or not decision.refuse else min(decision.refuse)

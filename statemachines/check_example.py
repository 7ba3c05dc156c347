"""A way through the configurations as a row of the matrix, in the spec's own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.explore import Violation
from statemachines.expression.emit import python_name
from statemachines.model import Impossible
from statemachines.scopes import scopes
from statemachines.steps import Call
from statemachines.types import Enum, Id, List, Ref, Text, Type, present

MOST_STEPS: Final = 50
LONG: Final = 40
_TOLD: Final = {
    "invariant": "{} - does not hold afterwards.",
    "livelock": "The implementation never rests afterwards.",
    "failure": "The last step cannot be carried out.",
}


def as_row(compiled: Compiled, violation: Violation) -> str:
    """Write the shortest way to a violation as a row that can be put into the matrix.

    Its one assertion is `true`: what does not hold is an invariant, and no caller sees that. Steps that
    the implementation takes unasked are comments, for a row cannot ask for them.
    """
    limits = scopes(compiled, {})[0].limits
    story = _Story(compiled, limits, {})
    for call in violation.trace:
        list(story.lines(call))  # what is minted on the way is no new text
    story = _Story(compiled, limits, _shared(compiled, violation.trace, story.named))
    clauses = compiled.kernel.clauses
    clause = next((each.path for each in clauses if each.where == violation.where), violation.name)
    steps = [line for call in violation.trace for line in story.lines(call)]
    needs = " && ".join(f"limits.{name} == {size}" for name, size in limits.items())
    lines = [
        "X0:",
        f"  about:  {_TOLD[violation.kind].format(violation.name)}",
        "  level:  must",
        "  source: the search of the small scope",
        f"  covers: {clause}",
        *([f"  needs:  {needs}"] if needs else []),
        "  act:",
        *[f"    - {name} = fresh({kind})" for name, kind in story.shared.values()],
        *steps,
        "  assert: true",
    ]
    return "\n".join(f"  {line}" for line in lines)


class _Story:
    """Takes the steps of a trace on a model, and writes each as a step of a row."""

    def __init__(
        self, compiled: Compiled, limits: Mapping[str, int], shared: dict[str, tuple[str, str]]
    ) -> None:
        self.compiled = compiled
        self.model: Any = compiled.model(limits)
        self.own = [step.clause for step in compiled.kernel.spontaneous]
        self.timers = [timer.clause for entity in compiled.kernel.entities for timer in entity.timers]
        self.named: dict[str, str] = {}  # id → how a row writes it
        self.bound: Counter[str] = Counter()
        self.shared = shared

    def lines(self, call: Call) -> Iterator[str]:
        """Take one step, and write it."""
        if call.operation in self.own:
            name = call.operation.rpartition(".")[2]
            keys = tuple(call.arguments.values())
            yield f"    # the implementation takes {name}({', '.join(map(str, keys))}) unasked"
            self._taken(lambda: self.model.take(self.own.index(call.operation), keys))
        elif call.operation in self.timers:
            (key,) = call.arguments.values()
            yield f"    # the time of {call.operation} is over for {key}"
            self._taken(lambda: self.model.fire(self.timers.index(call.operation), key))
        elif call.operation == "wait":
            yield f"    - wait({call.arguments['ms']})"
            self._taken(lambda: self.model.wait(call.arguments["ms"]))
        else:
            yield f"    - {self._called(call)}"

    def _called(self, call: Call) -> str:
        operation = self.compiled.kernel.operation(call.operation)
        text = f"{call.operation}({', '.join(self._arguments(operation, call.arguments))})"
        before = self._ids()
        outcome = self._taken(lambda: getattr(self.model, f"do_{call.operation}")(**call.arguments))
        minted = [(key, entity) for key, entity in self._ids().items() if key not in before]
        for key, entity in minted:
            self.bound[entity.variable] += 1
            name = f"{entity.variable}_{self.bound[entity.variable]}"
            place = _place(getattr(outcome, "value", None), key)
            if place is not None:
                self.named.setdefault(key, f"{name}{place}")
                return f"{name} = {text}"
        return text

    def _taken(self, step: Any) -> Any:
        """Take a step and those that must follow; the last one of a trace may fail."""
        try:
            outcome = step()
            for _ in range(MOST_STEPS):
                due = next((own for own in self.model.own_steps() if own[2]), None)
                if due is None:
                    break
                self.model.take(due[0], due[1])
        except (ArithmeticError, LookupError, ValueError, Impossible):
            return None
        return outcome

    def _ids(self) -> dict[str, kernel.Entity]:
        """Give the ids of all records that have a minted one."""
        found = {}
        for entity in self.compiled.kernel.entities:
            if entity.minted:
                found.update(dict.fromkeys(getattr(self.model, python_name(entity.collection)), entity))
        return found

    # ── Arguments ──

    def _arguments(self, operation: kernel.Operation, given: Mapping[str, Any]) -> Iterator[str]:
        """Write arguments in their order; one that is left out only where others follow."""
        uses = self.compiled.lifecycle.operations[operation.name].takes
        written = [index for index, each in enumerate(operation.parameters, 1) if each.name in given]
        for parameter in operation.parameters[: max(written, default=0)]:
            default = uses[parameter.name].default
            if parameter.name in given or default is None:
                yield self._value(given.get(parameter.name), present(parameter.wire))
            else:
                yield default.text

    def _value(self, value: Any, kind: Type) -> str:
        match value:
            case None | bool():
                return {None: "null", True: "true", False: "false"}[value]
            case list() | tuple():
                item = present(kind.item) if isinstance(kind, List) else kind
                return f"[{', '.join(self._value(each, item) for each in value)}]"
            case str() if not isinstance(kind, Enum | Ref):
                return self._text(value, kind)
            case _:
                return str(value)

    def _text(self, value: str, kind: Type) -> str:
        if value in self.named:
            return self.named[value]
        if value in self.shared:
            return self.shared[value][0]
        if isinstance(kind, Id) and self.compiled.kernel.entity(kind.entity).fixed:
            return value
        if _is_fresh(self.compiled, kind):
            return "fresh"
        if len(value) <= LONG:
            return repr(value)
        lines = value.count("\n") + 1
        return f"text('x', {max(len(value), 2 * lines - 1)}, {lines})"


def _shared(
    compiled: Compiled, trace: Sequence[Call], minted: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Give the new texts that stand in a trace more than once, each with a name for it and its type."""
    operations = {each.name: each.parameters for each in compiled.kernel.operations}
    kinds: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for call in trace:
        for parameter in operations.get(call.operation, ()):
            value = call.arguments.get(parameter.name)
            if (
                isinstance(value, str)
                and value not in minted
                and _is_fresh(compiled, present(parameter.wire))
            ):
                counts[value] += 1
                use = compiled.lifecycle.operations[call.operation].takes[parameter.name]
                kinds.setdefault(value, use.name.text)
    repeated = [value for value in counts if counts[value] > 1]
    return {value: (f"same_{number}", kinds[value]) for number, value in enumerate(repeated, 1)}


def _is_fresh(compiled: Compiled, kind: Type) -> bool:
    """Tell whether values of a type may be new ones."""
    if isinstance(kind, Id):
        return not compiled.kernel.entity(kind.entity).fixed
    declared = compiled.lifecycle.types.get(kind.name) if isinstance(kind, Text) else None
    return declared is not None and declared.text == "fresh or reused"


def _place(given: Any, key: str) -> str | None:
    """Tell where in a reply a value stands: as `.name` of a record, or as '' the whole; None: nowhere."""
    if given == key:
        return ""
    if isinstance(given, dict):
        return next((f".{name}" for name, value in given.items() if value == key), None)
    return None

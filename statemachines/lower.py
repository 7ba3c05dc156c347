"""Surface → kernel: every sentence becomes verbs with the path of the clause that it is.

Lowering also gives every expression its types, so all faults of names and types are found here; they
are gathered, and raised together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from statemachines import kernel
from statemachines.diagnostics import Diagnostic, SpecError, Where, did_you_mean
from statemachines.expression.check import Scope, check
from statemachines.expression.emit import python_name
from statemachines.expression.syntax import Call, Name, Node, children
from statemachines.expression.typed import Attribute, Const, Each, Operate, Typed, Var
from statemachines.lifecycle import (
    Assignment,
    Entity,
    Expr,
    Lifecycle,
    Loop,
    Operation,
    Otherwise,
    Owed,
    SignalUse,
    Spontaneous,
    TypeUse,
    Word,
)
from statemachines.types import BOOL, INT, TIME, UNKNOWN, Enum, List, Message, Ref, Type, optional, present
from statemachines.words import Words

Order = tuple[Typed | str, ...]
ANY = "*"  # a refusal with whatever code


def lower(lifecycle: Lifecycle) -> tuple[kernel.Kernel, Words]:
    """Lower a whole spec; raise SpecError with every fault of names and types."""
    lowering = Lowering(lifecycle)
    result = lowering.whole()
    faults = [*lowering.faults, *lowering.words.faults]
    if faults:
        raise SpecError(faults)
    return result, lowering.words


class Lowering:
    """Lowers one lifecycle, section by section."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self.lifecycle = lifecycle
        self.words = Words(lifecycle)
        self.faults: list[Diagnostic] = []
        self.clauses: dict[str, kernel.Clause] = {}
        self.recommended = {word.text for word in lifecycle.should}

    def whole(self) -> kernel.Kernel:
        """Lower every section, in the order of the file."""
        spec = self.lifecycle
        policies = tuple((name, policy.default.text) for name, policy in spec.policies.items())
        orders = tuple(self.order_policy(name) for name, policy in spec.policies.items() if policy.keys)
        entities = tuple(self.entity(entity) for entity in spec.entities.values())
        messages = tuple(self.message(owed) for owed in spec.messages.values())
        operations = tuple(self.operation(operation) for operation in spec.operations.values())
        spontaneous = tuple(self.own_step(step) for step in spec.spontaneous.values())
        invariants = tuple(self.invariant(name, expr) for name, expr in spec.invariants.items())
        signals = tuple(
            (name, tuple((key, self.words.resolve(use)) for key, use in fields.items())) for name, fields in spec.signals.items()
        )
        return kernel.Kernel(
            spec.name,
            spec.about,
            tuple(sorted(self.clauses.values(), key=lambda clause: clause.where)),
            tuple((name, limit.default) for name, limit in spec.limits.items()),
            policies,
            orders,
            entities,
            tuple(self.field(name, use) for name, use in spec.variables.items()),
            messages,
            signals,
            self.definitions(),
            operations,
            spontaneous,
            invariants,
        )

    # ── Small parts ──

    def fault(self, code: str, where: Where, message: str, hint: str) -> None:
        self.faults.append(Diagnostic(code, where, message, hint))

    def clause(self, path: str, where: Where, text: str) -> str:
        """Register a clause and give its path."""
        level = "should" if any(path == word or path.startswith(f"{word}.") for word in self.recommended) else "must"
        self.clauses[path] = kernel.Clause(path, where, "should" if level == "should" else "must", text)
        return path

    def typed(self, expr: Expr, scope: Scope, expected: Type = UNKNOWN) -> Typed:
        """Type an expression, gathering its faults at their places."""
        value, faults = check(expr.node, scope, expected)
        for fault in faults:
            self.fault(fault.code, expr.scalar.at(fault.at), fault.message, fault.hint)
        return value

    def condition(self, expr: Expr | None, scope: Scope) -> Typed | None:
        return None if expr is None else self.typed(expr, scope, BOOL)

    def states(self, entity: Entity, word: Word) -> tuple[str, ...]:
        """Give the states that a state or group name means."""
        groups = entity.groups or {}
        if word.text in groups:
            return tuple(state.text for state in groups[word.text])
        if word.text not in entity.states:
            known = [*groups, *entity.states]
            hint = did_you_mean(word.text, known) or f"known: {', '.join(known)}"
            self.fault("unknown-state", word.where, f"{entity.name.text} has no state or group {word.text!r}", hint)
        return (word.text,)

    def known_entity(self, word: Word) -> Entity | None:
        """Give the entity of a name, or tell that there is none."""
        found = self.lifecycle.entities.get(word.text)
        if found is None:
            known = list(self.lifecycle.entities)
            self.fault("unknown-entity", word.where, f"there is no entity {word.text!r}", did_you_mean(word.text, known) or f"known: {', '.join(known)}")
        return found

    def field(self, name: str, use: TypeUse) -> kernel.FieldOf:
        kind = self.words.resolve(use)
        default = self.typed(use.default, self.words.model_scope(), kind) if use.default else None
        return kernel.FieldOf(name, kind, default)

    def order(self, exprs: tuple[Expr, ...], scope: Scope, path: str) -> Order:
        """Lower ordering keys; the bare name of an ordering policy stands for its keys."""
        found: list[Typed | str] = []
        for expr in exprs:
            if isinstance(expr.node, Name) and (policy := self.lifecycle.policies.get(expr.node.name)) and policy.keys:
                found.append(expr.node.name)
            else:
                found.append(self.typed(expr, scope))
        return tuple(found)

    # ── Policies and definitions ──

    def order_policy(self, name: str) -> kernel.OrderPolicy:
        policy = self.lifecycle.policies[name]
        entity = self.known_entity(policy.entity) if policy.entity else None
        owner = entity.name.text if entity else ""
        scope = self.words.model_scope({self.words.variable(owner): Ref(owner)} if owner else {})
        keys = tuple((key, self.typed(expr, scope)) for key, expr in (policy.keys or {}).items())
        shown = tuple((key.text, check(expr.node, scope)[0]) for key, expr in (entity.shows if entity else ()))
        path = self.clause(f"policies.{name}", policy.name.where, f"ties are broken as declared: {' | '.join(key for key, _ in keys)}")
        return kernel.OrderPolicy(path, name, owner, self.words.variable(owner), keys, shown)

    def definitions(self) -> tuple[kernel.Definition, ...]:
        found = []
        for name, definition in self.lifecycle.definitions.items():
            kinds = self.words.used.get(name)
            if kinds is None:
                self.fault("unused-definition", definition.name.where, f"nothing uses {name!r}", "remove it, or use it")
                continue
            body = self.typed(definition.body, self.words.definition_scope(name, kinds))
            found.append(kernel.Definition(name, tuple(word.text for word in definition.parameters), body))
        return tuple(found)

    # ── Entities ──

    def entity(self, entity: Entity) -> kernel.Entity:
        name = entity.name.text
        path, variable = f"entities.{name}", self.words.variable(name)
        scope = self.words.model_scope({variable: Ref(name)})
        groups = tuple((group, tuple(word.text for word in words)) for group, words in (entity.groups or {}).items())
        fields = tuple(self.field(key, use) for key, use in (entity.fields or {}).items())
        minted = ""
        if entity.minted:
            minted = self.clause(f"{path}.id", entity.minted, f"a new {name} gets an id that no retained {name} has")
        for key, code in entity.unique:
            if key.text != "id" and key.text not in (entity.fields or {}):
                self.fault("unknown-field", key.where, f"{name} has no field {key.text!r}", did_you_mean(key.text, entity.fields or {}) or "declare it in `fields`")
            self.clause(f"{path}.unique.{key.text}", key.where, f"a {key.text} in use: refused {code.text}")
        shows = self.shows(entity, scope)
        return kernel.Entity(
            name,
            variable,
            entity.plural,
            tuple(word.text for word in entity.fixed),
            fields,
            entity.states,
            groups,
            dict(groups).get("terminal", ()),
            minted,
            self.words.key(name),
            self.entered(entity, scope),
            self.retain(entity, scope),
            self.timers(entity, scope),
            self.clause(f"{path}.shows", self.lifecycle.places[f"{path}.shows"], "what a caller sees of it") if shows else "",
            shows,
        )

    def shows(self, entity: Entity, scope: Scope) -> tuple[tuple[str, Typed], ...]:
        return tuple((key.text, self.typed(expr, scope)) for key, expr in entity.shows)

    def entered(self, entity: Entity, scope: Scope) -> tuple[kernel.Entered, ...]:
        found = []
        for entering in entity.entering:
            path = f"entities.{entity.name.text}.entering.{entering.states.text}"
            effects: list[kernel.Effect] = [*self.sets(entering.assignments, scope, path)]
            effects += self.loops(entering.loops, scope, path)
            effects += self.signals(entering.signals, scope, path)
            found.append(kernel.Entered(path, self.states(entity, entering.states), tuple(effects)))
        return tuple(found)

    def retain(self, entity: Entity, scope: Scope) -> kernel.Retain | None:
        rule = entity.retain
        if rule is None:
            return None
        path = self.clause(
            f"entities.{entity.name.text}.retain", rule.where, f"only the newest {rule.newest.text} {rule.of.text} stay"
        )
        newest = self.typed(rule.newest, self.words.model_scope(), INT)
        per = self.typed(rule.per, scope) if rule.per else None
        return kernel.Retain(path, newest, self.states(entity, rule.of), per, self.order(rule.by, scope, path))

    def timers(self, entity: Entity, scope: Scope) -> tuple[kernel.Timer, ...]:
        found = []
        for timer in entity.timers:
            path = self.clause(
                f"entities.{entity.name.text}.after.{timer.states.text}",
                timer.states.where,
                f"{timer.duration.text} after {timer.since.text}",
            )
            name, variable = entity.name.text, self.words.variable(entity.name.text)
            duration = self.typed(timer.duration, scope, INT)
            since = self.typed(timer.since, scope, optional(TIME))
            states = self.states(entity, timer.states)
            effects: list[kernel.Effect] = []
            if timer.move is not None:
                (target,) = self.states(entity, timer.move)[:1]
                aim = Const(Enum(f"{name}.state", (target,)), 0, target)
                effects.append(kernel.Move(path, variable, name, tuple((state, aim) for state in states)))
            effects += self.sets(timer.assignments, scope, path)
            effects += self.signals(timer.signals, scope, path)
            if timer.removes:
                effects.append(kernel.Remove(path, "record", variable))
            deadline = _sum(since, duration)
            found.append(kernel.Timer(path, states, deadline, tuple(effects)))
        return tuple(found)

    # ── Messages ──

    def message(self, owed: Owed) -> kernel.Message:
        name = owed.name.text
        path = f"messages.{name}"
        entity = self.known_entity(owed.about)
        scope = self.words.about_scope(name) if entity else self.words.model_scope()
        states = tuple(state for word in owed.due for state in (self.states(entity, word) if entity else ()))
        due = self.clause(f"{path}.due", self.place(f"{path}.due", owed.name), f"owed from {' or '.join(word.text for word in owed.due)} on")
        to = self.typed(owed.to, scope) if owed.to else None
        carries = tuple((key.text, self.typed(expr, scope)) for key, expr in owed.carries)
        for key, expr in owed.carries:
            self.clause(f"{path}.carries.{key.text}", key.where, f"carries {key.text}: {expr.text}")
        if owed.at_most and owed.at_most.text != f"once per {self.words.variable(owed.about.text)}":
            self.fault("bad-at-most", owed.at_most.where, f"{owed.at_most.text!r} is not known", f"write: once per {self.words.variable(owed.about.text)}")
        if owed.outlives and owed.outlives.text not in ("eviction", "expiry"):
            self.fault("bad-outlives", owed.outlives.where, f"{owed.outlives.text!r} is not known", "write eviction or expiry")

        def sentence(word: str, present: object, text: str) -> str:
            return self.clause(f"{path}.{word}", self.place(f"{path}.{word}", owed.name), text) if present else ""

        return kernel.Message(
            name,
            owed.about.text,
            self.words.variable(owed.about.text),
            states,
            due,
            to,
            sentence("to", owed.to, f"told to {owed.to.text if owed.to else ''} and nobody else"),
            self.order(owed.order, scope, path),
            sentence("order", owed.order, "told in order of " + ", ".join(expr.text for expr in owed.order)),
            sentence("at most", owed.at_most, f"told {owed.at_most.text if owed.at_most else ''}, under any interleaving"),
            sentence("outlives", owed.outlives, "stays owed when its record leaves"),
            self.condition(owed.unless, scope),
            sentence("unless", owed.unless, f"dropped when {owed.unless.text if owed.unless else ''}"),
            carries,
        )

    def place(self, path: str, word: Word) -> Where:
        return self.lifecycle.places.get(path, word.where)

    # ── Effects ──

    def sets(self, assignments: Iterable[Assignment], scope: Scope, path: str) -> list[kernel.Set]:
        found = []
        for assignment in assignments:
            target = self.typed(assignment.target, scope)
            clause = self.clause(f"{path}.set.{assignment.key.text}", assignment.key.where, f"set {assignment.key.text} = {assignment.value.text}")
            value = self.typed(assignment.value, scope, target.type)
            if isinstance(target, Attribute) and isinstance(target.of.type, Ref):
                found.append(kernel.Set(clause, target.of, target.of.type.entity, target.name, value))
            elif isinstance(target, Var) and target.name in self.lifecycle.variables:
                found.append(kernel.Set(clause, None, "", target.name, value))
            elif target.type != UNKNOWN:
                self.fault("bad-target", assignment.key.where, f"{assignment.key.text!r} cannot be set", "set record.field, or a variable")
        return found

    def signals(self, uses: Iterable[SignalUse], scope: Scope, path: str) -> list[kernel.Emit]:
        found = []
        for use in uses:
            name = use.name.text
            word = "may signal" if use.permitted else "signal"
            clause = self.clause(f"{path}.{word}.{name}", use.name.where, f"{'may signal' if use.permitted else 'signals'} {name}" + (f" when {use.when.text}" if use.when else ""))
            declared = self.lifecycle.signals.get(name)
            if declared is None:
                hint = did_you_mean(name, self.lifecycle.signals) or "declare it in `signals`"
                self.fault("unknown-signal", use.name.where, f"there is no signal {name!r}", hint)
                continue
            given = {key.text: expr for key, expr in use.fields}
            for key, _ in use.fields:
                if key.text not in declared:
                    self.fault("unknown-field", key.where, f"signal {name} has no field {key.text!r}", did_you_mean(key.text, declared) or f"known: {', '.join(declared)}")
            for key in declared:
                if key not in given:
                    self.fault("missing-field", use.name.where, f"signal {name} is sent without {key!r}", f"add it under `with`: {{{key}: …}}")
            fields = tuple((key, self.typed(given[key], scope, self.words.resolve(kind))) for key, kind in declared.items() if key in given)
            how = "permitted" if use.permitted else "repeats" if use.repeats else "once"
            found.append(kernel.Emit(clause, name, fields, self.condition(use.when, scope), how))
        return found

    def loops(self, loops: Iterable[Loop], scope: Scope, path: str) -> list[kernel.ForEach]:
        found = []
        for loop in loops:
            over = self.typed(loop.over, scope, List(UNKNOWN))
            kind = over.type.item if isinstance(over.type, List) else UNKNOWN
            inner = scope.with_names({loop.variable.text: Var(kind, 0, loop.variable.text, loop.variable.text)})
            clause = self.clause(f"{path}.for each.{loop.variable.text}", loop.variable.where, f"for each {loop.variable.text} in {loop.over.text}")
            effects: list[kernel.Effect] = [*self.sets(loop.assignments, inner, clause)]
            if loop.removes:
                effects.append(kernel.Remove(clause, "record", loop.variable.text))
            found.append(kernel.ForEach(clause, loop.variable.text, over, self.condition(loop.when, inner), tuple(effects)))
        return found

    # ── Operations ──

    def operation(self, operation: Operation) -> kernel.Operation:
        name, path = operation.name.text, f"operations.{operation.name.text}"
        parameters = tuple(self.parameter(path, key, use) for key, use in operation.takes.items())
        taken = self.words.model_scope({parameter.name: parameter.type for parameter in parameters})
        full = self.words.operation_scope(operation)
        requires = [*self.lookups(operation, parameters, taken, path), *self.guards(operation, taken, path)]
        effects: list[kernel.Effect] = []
        if operation.moves:
            requires_move, move = self.move(operation, parameters, taken, path)
            requires += requires_move
            effects += move
        effects += self.sets(operation.assignments, taken, path)
        creates, unique = self.creations(operation, taken, path)
        requires += unique
        effects += creates
        effects += self.loops(operation.loops, full, path)
        effects += [self.removal(word, path) for word in operation.removes]
        effects += self.sendings(operation, full, path)
        effects += self.signals(operation.signals, full, path)
        if operation.otherwise and not operation.moves:
            self.fault("unused-otherwise", operation.otherwise.where, "`otherwise` answers a `move`, and there is none", "remove it, or add the move")
        loses = operation.loses_files
        return kernel.Operation(
            name,
            operation.about,
            operation.optional is not None,
            self.clause(f"{path}.may lose", loses, "files told before need not exist afterwards") if loses else "",
            parameters,
            tuple(requires),
            tuple(effects),
            self.reply(operation, full, path),
        )

    def parameter(self, path: str, name: str, use: TypeUse) -> kernel.Parameter:
        kind = self.words.resolve(use)
        inner = present(kind)
        entity = inner.entity if isinstance(inner, Ref) else ""
        default = self.typed(use.default, self.words.model_scope(), kind) if use.default else None
        clause = ""
        if use.default:
            clause = self.clause(f"{path}.takes.{name}", use.default.where, f"{name} left out: {use.default.text}")
        return kernel.Parameter(name, kind, self.words.wire(kind), default, clause, entity)

    def lookups(self, operation: Operation, parameters: tuple[kernel.Parameter, ...], scope: Scope, path: str) -> list[kernel.Require]:
        """Require that the records an operation is about exist, and are visible to the caller."""
        found = []
        names = {parameter.name for parameter in parameters}
        for parameter in parameters:
            entity = self.lifecycle.entities.get(parameter.entity)
            if entity is None or entity.fixed or parameter.type != Ref(parameter.entity):
                continue
            answer = operation.missing or Otherwise("refused", "not_found", self.lifecycle.places.get(f"{path}.takes.{parameter.name}", operation.name.where))
            clause = self.clause(f"{path}.missing", answer.where, f"no such {parameter.name}: {_answered(answer)}")
            found.append(kernel.Require(clause, None, answer.kind, _code(answer), (), parameter.name, parameter.entity))
            if entity.private and entity.private.text in names:
                hidden = f"entities.{entity.name.text}.private to"
                self.clause(hidden, entity.private.where, f"for another {entity.private.text} it does not exist")
                kind = self.words.record_fields(entity.name.text).get(entity.private.text, UNKNOWN)
                mine = Attribute(kind, 0, Var(parameter.type, 0, parameter.name, parameter.name), entity.private.text)
                guard = _equal(mine, Var(kind, 0, entity.private.text, entity.private.text))
                found.append(kernel.Require(hidden, guard, answer.kind, _code(answer), (), parameter.name))
        if operation.missing and not found:
            self.fault("unused-missing", operation.missing.where, "`missing` answers for a record that is gone, and none is taken", "remove it")
        return found

    def guards(self, operation: Operation, scope: Scope, path: str) -> list[kernel.Require]:
        found = []
        if operation.refuses:
            clause = self.clause(f"{path}.refuses", operation.refuses.where, f"always refused {operation.refuses.text}")
            found.append(kernel.Require(clause, Const(BOOL, 0, False), "refused", operation.refuses.text))
        for code, expr in operation.requires:
            clause = self.clause(f"{path}.requires.{code.text}", code.where, f"unless {expr.text}: refused {code.text}")
            found.append(kernel.Require(clause, self.condition(expr, scope), "refused", code.text))
        for code, expr in operation.open:
            clause = self.clause(f"{path}.open.{code.text}", code.where, f"where {expr.text}: refused {code.text}, or carried out")
            found.append(kernel.Require(clause, _negated(self.typed(expr, scope, BOOL)), "open", code.text))
        return found

    def move(
        self, operation: Operation, parameters: tuple[kernel.Parameter, ...], scope: Scope, path: str
    ) -> tuple[list[kernel.Require], list[kernel.Effect]]:
        moved = next((p for p in parameters if p.entity and self.lifecycle.entities[p.entity].states), None)
        if moved is None:
            self.fault("bad-move", operation.moves[0].where, "no record with states is taken here", "take the record that moves: {job: Job}")
            return [], []
        entity = self.lifecycle.entities[moved.entity]
        arrows: dict[str, Typed] = {}
        for move in operation.moves:
            for state in self.states(entity, move.source):
                if state in arrows:
                    self.fault("overlapping-moves", move.where, f"{state!r} already has a move in this table", "one move for each state")
                arrows[state] = self.target(move.target, state, entity, scope)
        where = self.lifecycle.places.get(f"{path}.move", operation.moves[0].where)
        text = "; ".join(f"{move.source.text} → {move.target.text}" for move in operation.moves)
        clause = self.clause(f"{path}.move", where, text)
        answer = operation.otherwise or Otherwise("refused", "wrong_state", operation.moves[0].where)
        other = self.clause(f"{path}.otherwise", answer.where, f"in any other state: {_answered(answer)}")
        kind = Enum(f"{entity.name.text}.state", entity.states)
        state_of = Attribute(kind, 0, Var(moved.type, 0, moved.name, moved.name), "state")
        guard = _within(state_of, Const(List(kind), 0, tuple(arrows)))
        permitted = tuple(replace(emit, clause=emit.clause) for emit in self.signals(answer.signals, scope, f"{path}.otherwise"))
        require = kernel.Require(other, guard, answer.kind, _code(answer), permitted, moved.name)
        return [require], [kernel.Move(clause, moved.name, moved.entity, tuple(arrows.items()))]

    def target(self, expr: Expr, state: str, entity: Entity, scope: Scope) -> Typed:
        kind = Enum(f"{entity.name.text}.state", entity.states)
        if isinstance(expr.node, Name) and expr.node.name == "same":
            return Const(Enum(kind.name, (state,)), 0, state)
        return self.typed(expr, scope, kind)

    def creations(self, operation: Operation, scope: Scope, path: str) -> tuple[list[kernel.Create], list[kernel.Require]]:
        creates, requires = [], []
        for creation in operation.creations:
            entity = self.known_entity(creation.entity)
            if entity is None:
                continue
            name, variable = entity.name.text, self.words.variable(entity.name.text)
            kinds = self.words.record_fields(name)
            given: dict[str, Typed] = {}
            for key, expr in creation.fields:
                if key.text not in kinds or key.text in ("serial", "completion", "state"):
                    known = [field for field in kinds if field not in ("serial", "completion", "state")]
                    self.fault("unknown-field", key.where, f"{name} has no field {key.text!r}", did_you_mean(key.text, known) or f"known: {', '.join(known)}")
                    continue
                given[key.text] = self.typed(expr, scope, kinds[key.text])
            for key, use in (entity.fields or {}).items():
                if key not in given and use.default is None and not use.nullable:
                    self.fault("missing-field", creation.entity.where, f"{name} is created without {key!r}", "give it a value, a default, or make it X | null")
            clause = self.clause(f"{path}.create.{name}", creation.entity.where, f"create a {name}")
            chosen = given.pop("id", None)
            creates.append(kernel.Create(clause, name, variable, tuple(given.items()), chosen, self.condition(creation.when, scope)))
            for key, code in entity.unique:
                value = chosen if key.text == "id" else given.get(key.text)
                if value is not None:
                    guard = self.unused(value, entity, key.text, kinds[key.text])
                    requires.append(kernel.Require(f"entities.{name}.unique.{key.text}", guard, "refused", code.text))
        return creates, requires

    def unused(self, value: Typed, entity: Entity, field: str, kind: Type) -> Typed:
        """Give the guard that no record of an entity has this value in a field that has to be unique."""
        name, plural = entity.name.text, entity.plural
        records: Typed = Var(List(Ref(name)), 0, plural, f"self.{python_name(plural)}.values()")
        body = _equal(Attribute(kind, 0, Var(Ref(name), 0, "other", "other"), field), value)
        records, body = self.words.narrowed("exists", records, "other", body)
        return _negated(Each(BOOL, 0, "exists", records, "other", body))

    def removal(self, word: Word, path: str) -> kernel.Remove:
        clause = self.clause(f"{path}.remove.{word.text}", word.where, f"remove every {word.text}")
        if word.text.startswith("due."):
            message = word.text.removeprefix("due.")
            if message not in self.lifecycle.messages:
                self.fault("unknown-message", word.where, f"there is no message {message!r}", did_you_mean(message, self.lifecycle.messages))
            return kernel.Remove(clause, "due", message)
        self.known_entity(word)
        return kernel.Remove(clause, "entity", word.text)

    def sendings(self, operation: Operation, scope: Scope, path: str) -> list[kernel.Send]:
        found = []
        for sending in operation.sends:
            value = self.typed(sending.messages, scope)
            if not (isinstance(value.type, List) and isinstance(value.type.item, Message)):
                self.fault("expression-type", sending.messages.where, f"messages are sent, and this is {value.type}", "for example due.Ended.filter(m, …)")
                continue
            clause = self.clause(f"{path}.sends.{sending.name.text}", sending.name.where, f"send {sending.messages.text}, in order")
            found.append(kernel.Send(clause, value.type.item.name, sending.name.text, value))
        return found

    def reply(self, operation: Operation, scope: Scope, path: str) -> kernel.Reply | None:
        gives = operation.gives
        if gives is None:
            return None
        clause = self.clause(f"{path}.gives", self.lifecycle.places.get(f"{path}.gives", operation.name.where), "what it gives")
        fields, branches = None, []
        if gives.fields is not None:
            fields = tuple((key.text, self.typed(expr, scope)) for key, expr in gives.fields)
        elif gives.value is not None:
            branches.append((None, self.typed(gives.value, scope)))
        for when, value in gives.branches:
            branches.append((self.condition(when, scope), self.typed(value, scope)))
        return kernel.Reply(clause, self.words.given(operation), fields, tuple(branches))

    # ── Steps of its own, invariants ──

    def own_step(self, step: Spontaneous) -> kernel.Spontaneous:
        name, path = step.name.text, f"on its own.{step.name.text}"
        loops = tuple((variable.text, entity.text) for variable, entity in step.loops if self.known_entity(entity))
        scope = self.words.model_scope({variable: Ref(entity) for variable, entity in loops})
        clause = self.clause(path, step.name.where, f"by itself when {step.when.text}" + (f", surely when {step.must.text}" if step.must else ""))
        operation, arguments = "", ()
        if step.does is not None:
            operation, arguments = self.does(step.does, scope)
        effects: list[kernel.Effect] = [*self.sets(step.assignments, scope, path)]
        effects += self.signals(step.signals, scope, path)
        may = self.typed(step.when, scope, BOOL)
        return kernel.Spontaneous(clause, name, loops, may, self.condition(step.must, scope), operation, arguments, tuple(effects))

    def does(self, expr: Expr, scope: Scope) -> tuple[str, tuple[Typed, ...]]:
        call = expr.node
        operation = self.lifecycle.operations.get(call.name) if isinstance(call, Call) and call.receiver is None else None
        if operation is None or not isinstance(call, Call):
            name = call.name if isinstance(call, Call) else expr.text
            hint = did_you_mean(name, self.lifecycle.operations) or "write operation(argument, …)"
            self.fault("unknown-operation", expr.where, f"there is no operation {name!r}", hint)
            return "", ()
        kinds = [self.words.resolve(use) for use in operation.takes.values()]
        arguments = []
        for node, kind in zip(call.arguments, kinds, strict=False):
            value, faults = check(node, scope, kind)
            self.faults += [Diagnostic(fault.code, expr.scalar.at(fault.at), fault.message, fault.hint) for fault in faults]
            arguments.append(value)
        return call.name, tuple(arguments)

    def invariant(self, name: str, expr: Expr) -> kernel.Invariant:
        """Lower an invariant: a free name of a record means every such record, `was` one step earlier."""
        names = set(_free_names(expr.node))
        loops = tuple(
            (self.words.variable(entity), entity) for entity in self.lifecycle.entities if self.words.variable(entity) in names
        )
        kinds: dict[str, Type] = {variable: Ref(entity) for variable, entity in loops}
        looks_back = ""
        if "was" in names and loops:
            looks_back = loops[0][1]
            kinds["was"] = Ref(looks_back)
        path = self.clause(f"invariants.{name}", self.lifecycle.places[f"invariants.{name}"], expr.text)
        return kernel.Invariant(path, name, loops, self.typed(expr, self.words.model_scope(kinds), BOOL), looks_back)


def _free_names(node: Node) -> Iterable[str]:
    if isinstance(node, Name):
        yield node.name
    for child in children(node):
        yield from _free_names(child)


def _answered(answer: Otherwise) -> str:
    return f"refused {answer.code}".strip() if answer.kind == "refused" else answer.kind


def _code(answer: Otherwise) -> str:
    return (answer.code or ANY) if answer.kind == "refused" else ""


def _equal(left: Typed, right: Typed) -> Typed:
    return Operate(BOOL, 0, "==", left, right)


def _sum(left: Typed, right: Typed) -> Typed:
    return Operate(TIME, 0, "+", left, right)


def _negated(value: Typed) -> Typed:
    return Operate(BOOL, 0, "!", None, value)


def _within(value: Typed, values: Typed) -> Typed:
    return Operate(BOOL, 0, "in", value, values)


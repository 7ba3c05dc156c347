"""The methods of a generated model: what each operation may answer, and what carrying it out does."""

from __future__ import annotations

from statemachines import kernel
from statemachines.expression.emit import emit, emit_iterable, group_constant, python_name
from statemachines.expression.typed import Attribute, InGroup, Operate, Typed, Var, parts
from statemachines.types import List, Message, Optional, Ref, Type
from statemachines.writer import Writer


class Steps:
    """Writes the methods of one model."""

    def __init__(self, out: Writer, source: kernel.Kernel, numbers: dict[str, int]) -> None:
        self.out = out
        self.source = source
        self.numbers = numbers

    def saw(self, path: str) -> None:
        """Write that a clause is witnessed here."""
        if path in self.numbers:
            self.out.line(f"self.seen[{self.numbers[path]}] = 1")

    def method(self, name: str, arguments: str, gives: str) -> None:
        """Write the first line of a method."""
        self.out.line()
        self.out.line(f"def {name}(self{', ' if arguments else ''}{arguments}) -> {gives}:")

    # ── Definitions and orders ──

    def definition(self, definition: kernel.Definition) -> None:
        """Write a named expression as a method."""
        self.method(python_name(definition.name), ", ".join(f"{python_name(name)}: Any" for name in definition.parameters), "Any")
        with self.out.block():
            self.out.line(f"return {emit(definition.body)}")

    def order_policy(self, order: kernel.OrderPolicy) -> None:
        """Write the keys of an ordering policy: one of its named ones, or shown fields that were declared."""
        variable = python_name(order.variable)
        self.method(f"{python_name(order.name)}_key", f"{variable}: {order.entity}", "tuple[Any, ...]")
        with self.out.block():
            self.saw(order.clause)
            self.out.line(f"declared = self.policies.{python_name(order.name)}")
            for name, value in order.keys:
                self.out.line(f"if declared == {name!r}:")
                with self.out.block():
                    self.out.line(f"return ({emit(value)}, {variable}.completion)")
            self.out.line("fields = {")
            with self.out.block():
                for name, value in order.fields:
                    self.out.line(f"{name!r}: {self.projected(value)},")
            self.out.line("}")
            self.out.line("return (*declared_keys(declared, fields), " + f"{variable}.completion)")

    def key(self, order: tuple[Typed | str, ...], variable: str) -> str:
        """Write the ordering key of a record."""
        found = []
        for part in order:
            if isinstance(part, str):
                found.append(f"*self.{python_name(part)}_key({python_name(variable)})")
            else:
                found.append(emit(part))
        return f"({', '.join(found)},)" if found else "()"

    # ── Records ──

    def records(self, entity: kernel.Entity) -> None:
        """Write what follows from a record's state, how it leaves, and what is seen of it."""
        if entity.states:
            self._entered(entity)
        if not entity.fixed:
            self._removed(entity)
        if entity.shows:
            self._shown(entity)

    def _entered(self, entity: kernel.Entity) -> None:
        variable, messages = python_name(entity.variable), [m for m in self.source.messages if m.entity == entity.name]
        if not self._has_consequences(entity.name):
            return
        self.method(f"entered_{variable}", f"{variable}: {entity.name}, before: str, signals: list[Signal]", "None")
        with self.out.block():
            if entity.terminal:
                inside = group_constant(entity.name, "terminal")
                self.out.line(f"if {variable}.state in {inside} and before not in {inside}:")
                with self.out.block():
                    self.out.line("self.completions += 1")
                    self.out.line(f"{variable}.completion = self.completions")
            for rule in entity.entered:
                inside = _states(entity, rule.states)
                self.out.line(f"if {variable}.state in {inside} and before not in {inside}:")
                with self.out.block():
                    self.effects(rule.effects)
            for message in messages:
                inside = _states(entity, message.states)
                self.out.line(f"if {variable}.state in {inside} and before not in {inside}:")
                with self.out.block():
                    self._due(message)
            if entity.retain is not None:
                self.out.line(f"if {variable}.state in {_states(entity, entity.retain.states)}:")
                with self.out.block():
                    self._retained(entity, entity.retain)

    def _due(self, message: kernel.Message) -> None:
        """Write that a message becomes due, its parts taken now."""
        variable = python_name(message.variable)
        if message.unless is not None:
            self.out.line(f"if {emit(message.unless)}:")
            with self.out.block():
                self.saw(message.unless_clause)
            self.out.line("else:")
            with self.out.block():
                self._enqueued(message, variable)
        else:
            self._enqueued(message, variable)

    def _enqueued(self, message: kernel.Message, variable: str) -> None:
        self.saw(message.due)
        receiver = emit(message.to) if message.to is not None else "None"
        carried = "".join(f", {emit(value)}" for _, value in message.carries)
        key = self.key(message.order, message.variable)
        self.out.line(f"self.due_{message.name.lower()}.append({message.name}({variable}.serial, {receiver}, {key}{carried}))")

    def _retained(self, entity: kernel.Entity, rule: kernel.Retain) -> None:
        """Write that the oldest records leave while there are too many."""
        variable, other = python_name(entity.variable), "other"
        same = ""
        if rule.per is not None:
            same = f" and {emit(_renamed(rule.per, entity.variable, other))} == {emit(rule.per)}"
        collection = f"self.{python_name(entity.collection)}.values()"
        inside = _states(entity, rule.states)
        self.out.line(f"kept = [{other} for {other} in {collection} if {other}.state in {inside}{same}]")
        self.out.line(f"newest = {emit(rule.newest)}")
        self.out.line("if len(kept) >= newest:")
        with self.out.block():
            self.saw(rule.clause)
        self.out.line("if len(kept) > newest:")
        with self.out.block():
            self.out.line(f"kept.sort(key=lambda {variable}: {self.key(rule.order, entity.variable)})")
            self.out.line("for oldest in kept[: len(kept) - newest]:")
            with self.out.block():
                self.out.line(f"self.removed_{variable}(oldest)")

    def _removed(self, entity: kernel.Entity) -> None:
        variable = python_name(entity.variable)
        self.method(f"removed_{variable}", f"{variable}: {entity.name}", "None")
        with self.out.block():
            self.out.line(f"del self.{python_name(entity.collection)}[{variable}.{python_name(entity.key)}]")
            for message in self.source.messages:
                if message.entity != entity.name:
                    continue
                box = f"self.due_{message.name.lower()}"
                left = f"[message for message in {box} if message.about != {variable}.serial]"
                if message.outlives_clause:
                    self.out.line(f"if any(message.about == {variable}.serial for message in {box}):")
                    with self.out.block():
                        self.saw(message.outlives_clause)
                else:
                    self.out.line(f"{box} = {left}")

    def _shown(self, entity: kernel.Entity) -> None:
        variable = python_name(entity.variable)
        self.method(f"shown_{variable}", f"{variable}: {entity.name}", "dict[str, Any]")
        with self.out.block():
            self.saw(entity.shows_clause)
            self.out.line("return {")
            with self.out.block():
                for name, value in entity.shows:
                    self.out.line(f"{name!r}: {self.projected(value)},")
            self.out.line("}")

    # ── Messages ──

    def message(self, message: kernel.Message) -> None:
        """Write how messages are sent, and what a receiver sees of one."""
        name = message.name.lower()
        due, sent = f"self.due_{name}", f"self.sent_{name}"
        self.method(f"send_{name}", f"messages: list[{message.name}]", f"list[{message.name}]")
        with self.out.block():
            self.out.line(f"told: list[{message.name}] = []")
            order = "sorted(messages, key=lambda message: message.key)" if message.order_clause else "list(messages)"
            self.out.line(f"for message in {order}:")
            with self.out.block():
                self.out.line(f"{due}.remove(message)")
                for clause in (message.once_clause, message.to_clause):
                    if clause:
                        self.saw(clause)
                if message.once_clause:
                    self.out.line(f"if any(other.about == message.about for other in {sent}):")
                    with self.out.block():
                        self.out.line("continue")
                self.out.line(f"{sent}.append(message)")
                self.out.line("told.append(message)")
            if message.order_clause:
                self.out.line(f"if len(told) > 1 or {due}:")
                with self.out.block():
                    self.saw(message.order_clause)
            self.out.line("return told")
        self.method(f"shown_{name}", f"message: {message.name}", "dict[str, Any]")
        with self.out.block():
            for key, _ in message.carries:
                self.saw(f"messages.{message.name}.carries.{key}")
            self.out.line("return {")
            with self.out.block():
                for key, value in message.carries:
                    attribute = f"message.{python_name(key)}"
                    self.out.line(f"{key!r}: {self._project(attribute, value.type)},")
            self.out.line("}")

    # ── Operations ──

    def operation(self, operation: kernel.Operation) -> None:
        """Write what an operation may answer, what it does, and both together under its own name."""
        arguments = ", ".join(
            f"{python_name(p.name)}: Any" + (" = ABSENT" if p.default is not None else "") for p in operation.parameters
        )
        names = ", ".join(python_name(p.name) for p in operation.parameters)
        name = operation.name
        self.method(f"may_{name}", arguments, "Decision")
        with self.out.block():
            self._decides(operation)
        sends = [effect for effect in operation.effects if isinstance(effect, kernel.Send)]
        extra = "".join(f", {python_name(send.variable)}: Any = None" for send in sends)
        self.method(f"do_{name}", (arguments + extra).lstrip(", "), "Outcome")
        with self.out.block():
            self._does(operation)
        self.method(python_name(name), arguments, "Outcome | Decision")
        with self.out.block():
            if operation.about:
                self.out.line(f'"""{" ".join(operation.about.split())}"""')
            if operation.requires:
                self.out.line(f"decision = self.may_{name}({names})")
                self.out.line("if not decision.accept:")
                with self.out.block():
                    self.out.line("return decision")
            self.out.line(f"return self.do_{name}({names})")

    def _looked_up(self, operation: kernel.Operation, *, witness: bool) -> None:
        """Write that arguments become records, and absent ones their defaults."""
        for parameter in operation.parameters:
            name = python_name(parameter.name)
            if parameter.default is not None:
                self.out.line(f"if {name} is ABSENT:")
                with self.out.block():
                    if witness:
                        self.saw(parameter.default_clause)
                    self.out.line(f"{name} = {emit(parameter.default)}")
            if parameter.entity:
                collection = python_name(self.source.entity(parameter.entity).collection)
                fixed = bool(self.source.entity(parameter.entity).fixed)
                self.out.line(f"{name} = self.{collection}{f'[{name}]' if fixed else f'.get({name})'}")

    def _decides(self, operation: kernel.Operation) -> None:
        out = self.out
        if not operation.requires:
            out.line("return ACCEPT")
            return
        self._looked_up(operation, witness=False)
        lookups = [r for r in operation.requires if r.parameter and r.answer != "open" and self._is_lookup(r)]
        refusals = [r for r in operation.requires if r.answer == "refused" and r not in lookups]
        others = [r for r in operation.requires if r.answer in ("unchanged", "accepted") and r not in lookups]
        opens = [r for r in operation.requires if r.answer == "open"]
        for require in lookups:
            self._refuses_at_once(require)
        if opens:
            self._gathers("open_codes", opens, ())
        if len(refusals) == 1 and not opens:
            self._refuses_at_once(refusals[0])
        elif refusals:
            self._gathers("codes", refusals, tuple(require.code for require in opens))
            out.line("if codes:")
            with out.block():
                out.line(f"return Decision(tuple(codes), clause={self.numbers[refusals[0].clause]})")
        for require in others:
            self._refuses_at_once(require)
        if opens:
            out.line("if open_codes:")
            with out.block():
                out.line("return Decision(tuple(open_codes), accept=True)")
        out.line("return ACCEPT")

    def _gathers(self, name: str, requires: list[kernel.Require], excused: tuple[str, ...]) -> None:
        """Write that the codes of all guards that fail are gathered; what is open excuses its code."""
        self.out.line(f"{name}: list[str] = []")
        for require in requires:
            unless = f" and {require.code!r} not in open_codes" if require.code in excused else ""
            self.out.line(f"if {self._fails(require)}{unless}:")
            with self.out.block():
                self.saw(require.clause)
                self.out.line(f"{name}.append({require.code!r})")

    @staticmethod
    def _is_lookup(require: kernel.Require) -> bool:
        return require.guard is None or ".private to" in require.clause

    def _fails(self, require: kernel.Require) -> str:
        if require.guard is None:
            return f"{python_name(require.parameter)} is None"
        if isinstance(require.guard, Operate) and require.guard.operator == "!":
            return emit(require.guard.right)
        return f"not ({emit(require.guard)})"

    def _refuses_at_once(self, require: kernel.Require) -> None:
        out, number = self.out, self.numbers[require.clause]
        out.line(f"if {self._fails(require)}:")
        with out.block():
            self.saw(require.clause)
            if require.answer == "refused":
                codes = f"({require.code!r},)"
                out.line(f"return Decision({codes}, clause={number})")
                return
            permitted = ""
            if require.permitted:
                out.line("may: list[Signal] = []")
                self._signals(list(require.permitted), {"permitted": "may"})
                permitted = ", may=tuple(may)"
            how = "idle=True" if require.answer == "unchanged" else "quiet=True"
            out.line(f"return Decision({how}{permitted}, clause={number})")

    def _does(self, operation: kernel.Operation) -> None:
        out = self.out
        self._looked_up(operation, witness=True)
        emits = [effect for effect in operation.effects if isinstance(effect, kernel.Emit)]
        others = tuple(effect for effect in operation.effects if not isinstance(effect, kernel.Emit))
        lists = self._signal_lists(others, emits)
        for name in lists.values():
            out.line(f"{name}: list[Signal] = []")
        self.effects(others)
        self._signals(emits, lists)
        given = self._reply(operation.reply)
        tuples = {key: f"tuple({name})" for key, name in lists.items()}
        if not tuples and given == "None":
            out.line("return NOTHING")
            return
        extra = "".join(f", {keyword}={tuples[key]}" for key, keyword in _OUTCOME.items() if key in tuples)
        out.line(f"return Outcome({given}{extra})")

    def _signal_lists(self, effects: tuple[kernel.Effect, ...], emits: list[kernel.Emit]) -> dict[str, str]:
        """Give the local lists that gather signals, by how the signals come."""
        found = {each.how: _LISTS[each.how] for each in emits}
        if any(self._enters(effect) for effect in kernel.walk(effects)):
            found["once"] = _LISTS["once"]
        return {how: name for how, name in _LISTS.items() if how in found}

    def _signals(self, emits: list[kernel.Emit], lists: dict[str, str]) -> None:
        for each in emits:
            fields = "".join(f"({key!r}, {self.projected(value)}), " for key, value in each.fields).rstrip()
            line = f"{lists[each.how]}.append(({each.signal!r}, ({fields})))"
            if each.when is None:
                self.saw(each.clause)
                self.out.line(line)
                continue
            self.out.line(f"if {emit(each.when)}:")
            with self.out.block():
                self.saw(each.clause)
                self.out.line(line)

    def _reply(self, reply: kernel.Reply | None) -> str:
        """Write the branches of a reply, and give the source of the last one."""
        if reply is None:
            return "None"
        self.saw(reply.clause)
        if reply.fields is not None:
            return "{" + ", ".join(f"{key!r}: {self.projected(value)}" for key, value in reply.fields) + "}"
        source = "None"
        for when, value in reversed(reply.branches):
            source = self.projected(value) if when is None else f"({self.projected(value)} if {emit(when)} else {source})"
        return source

    # ── Effects ──

    def effects(self, effects: tuple[kernel.Effect, ...]) -> None:
        """Write effects in order; values that a step's own effects would change are taken before."""
        taken = self._taken_before(effects)
        for effect in effects:
            match effect:
                case kernel.Move():
                    self._moves(effect)
                case kernel.Set():
                    self._sets(effect, taken.get(effect.clause))
                case kernel.Create():
                    self._creates(effect)
                case kernel.Remove():
                    self._removes(effect)
                case kernel.Send():
                    self._sends(effect)
                case kernel.Emit():
                    self._signals([effect], {"once": "signals", "repeats": "signals", "permitted": "signals"})
                case kernel.ForEach():
                    self._loops(effect)
        for effect in effects:
            if isinstance(effect, kernel.Move | kernel.Create) and self._enters(effect):
                variable = python_name(effect.record if isinstance(effect, kernel.Move) else effect.variable)
                before = "before" if isinstance(effect, kernel.Move) else "''"
                method = f"entered_{python_name(self.source.entity(effect.entity).variable)}"
                self.out.line(f"self.{method}({variable}, {before}, signals)")

    def _enters(self, effect: kernel.Effect) -> bool:
        """Tell whether an effect can bring a record into a state from which something follows."""
        if isinstance(effect, kernel.Move):
            return not _stays(effect) and self._has_consequences(effect.entity)
        return isinstance(effect, kernel.Create) and self._has_consequences(effect.entity)

    def _has_consequences(self, name: str) -> bool:
        entity = self.source.entity(name)
        owed = any(message.entity == name for message in self.source.messages)
        return bool(entity.states) and (bool(entity.terminal) or bool(entity.entered) or owed)

    def _taken_before(self, effects: tuple[kernel.Effect, ...]) -> dict[str, str]:
        """Write the values that have to be taken before the first effect; give their names."""
        changed: set[str] = set()
        taken: dict[str, str] = {}
        for effect in effects:
            match effect:
                case kernel.Move():
                    changed.add("state")
                case kernel.Set(clause=clause, field=field, value=value):
                    if changed & _reads(value):
                        taken[clause] = f"new_{python_name(field)}"
                        self.out.line(f"{taken[clause]} = {emit(value)}")
                    changed.add(field)
        return taken

    def _moves(self, effect: kernel.Move) -> None:
        record = python_name(effect.record)
        self.saw(effect.clause)
        targets = {emit(target) for _, target in effect.arrows}
        if _stays(effect):
            return
        self.out.line(f"before = {record}.state")
        if len(targets) == 1:
            self.out.line(f"{record}.state = {targets.pop()}")
            return
        for index, (state, target) in enumerate(effect.arrows):
            self.out.line(f"{'if' if index == 0 else 'elif'} before == {state!r}:")
            with self.out.block():
                self.out.line(f"{record}.state = {emit(target)}")

    def _sets(self, effect: kernel.Set, taken: str | None) -> None:
        value = taken or emit(effect.value)
        target = f"{emit(effect.record)}.{python_name(effect.field)}" if effect.record is not None else f"self.{python_name(effect.field)}"
        if effect.when is not None:
            self.out.line(f"if {emit(effect.when)}:")
            with self.out.block():
                self.saw(effect.clause)
                self.out.line(f"{target} = {value}")
            return
        self.saw(effect.clause)
        self.out.line(f"{target} = {value}")

    def _creates(self, effect: kernel.Create) -> None:
        entity = self.source.entity(effect.entity)
        variable, collection = python_name(effect.variable), f"self.{python_name(entity.collection)}"
        given = dict(effect.fields)
        self.saw(effect.clause)
        self.out.line("self.serials += 1")
        arguments = ["self.serials"]
        if entity.minted:
            if effect.id is None:
                self.out.line(f"new_id = self.mint({entity.name!r})")
                self.saw(entity.minted)
                self.out.line(f"if new_id in {collection}:")
                with self.out.block():
                    self.out.line(f'raise Impossible({entity.minted!r}, f"the id {{new_id!r}} is in use already")')
            arguments.append("new_id" if effect.id is None else emit(effect.id))
        for field in entity.fields:
            value = given.get(field.name, field.default)
            arguments.append(emit(value) if value is not None else "None")
        self.out.line(f"{variable} = {entity.name}({', '.join(arguments)})")
        self.out.line(f"{collection}[{variable}.{python_name(entity.key)}] = {variable}")

    def _removes(self, effect: kernel.Remove) -> None:
        self.saw(effect.clause)
        if effect.kind == "due":
            self.out.line(f"self.due_{effect.name.lower()} = []")
        elif effect.kind == "entity":
            entity = self.source.entity(effect.name)
            self.out.line(f"for {entity.variable} in list(self.{python_name(entity.collection)}.values()):")
            with self.out.block():
                self.out.line(f"self.removed_{entity.variable}({entity.variable})")
        else:
            self.out.line(f"self.removed_{effect.name}({effect.name})")

    def _sends(self, effect: kernel.Send) -> None:
        variable = python_name(effect.variable)
        self.out.line(f"if {variable} is None:")
        with self.out.block():
            self.out.line(f"{variable} = self.send_{effect.message.lower()}({emit(effect.messages)})")
        self.out.line(f"if {variable}:")
        with self.out.block():
            self.saw(effect.clause)

    def _loops(self, effect: kernel.ForEach) -> None:
        name = python_name(effect.variable)
        self.out.line(f"for {name} in list({emit_iterable(effect.over)}):")
        with self.out.block():
            if effect.when is not None:
                self.out.line(f"if not ({emit(effect.when)}):")
                with self.out.block():
                    self.out.line("continue")
            self.saw(effect.clause)
            self.effects(effect.effects)

    # ── What a caller sees ──

    def projected(self, value: Typed) -> str:
        """Write a value as a caller sees it: records and messages as what they show."""
        if isinstance(value.type, List) and isinstance(value, Var):
            return self._project(emit_iterable(value), value.type)
        return self._project(emit(value), value.type)

    def _project(self, source: str, kind: Type) -> str:
        match kind:
            case Ref(entity=entity) if self.source.entity(entity).shows:
                return f"self.shown_{python_name(self.source.entity(entity).variable)}({source})"
            case Ref():
                return f"{source}.id"
            case Message(name=name):
                return f"self.shown_{name.lower()}({source})"
            case List(item=item) if self._project("each", item) != "each":
                return f"[{self._project('each', item)} for each in {source}]"
            case Optional(item=item) if self._project("each", item) != "each":
                return f"(None if {source} is None else {self._project(source, item)})"
            case _:
                return source

    # ── Steps of its own ──

    def own_steps(self) -> None:
        """Write which steps the implementation may or must take unasked, and how one is taken."""
        steps = self.source.spontaneous
        self.method("own_steps", "", "list[tuple[int, tuple[Any, ...], bool]]")
        with self.out.block():
            if not steps:
                self.out.line("return []")
            else:
                self.out.line("found: list[tuple[int, tuple[Any, ...], bool]] = []")
                for index, step in enumerate(steps):
                    self._enabled(index, step)
                self.out.line("return found")
        self.method("take", "index: int, keys: tuple[Any, ...]", "Outcome")
        with self.out.block():
            for index, step in enumerate(steps):
                self.out.line(f"if index == {index}:")
                with self.out.block():
                    self._taken(step)
            self.out.line("raise LookupError(index)")

    def _enabled(self, index: int, step: kernel.Spontaneous) -> None:
        indents = []
        for variable, entity in step.loops:
            self.out.line(f"for {python_name(variable)} in self.{python_name(self.source.entity(entity).collection)}.values():")
            block = self.out.block()
            block.__enter__()
            indents.append(block)
        keys = "".join(f"{python_name(variable)}.{python_name(self.source.entity(entity).key)}, " for variable, entity in step.loops)
        self.out.line(f"if {emit(step.may)}:")
        with self.out.block():
            must = emit(step.must) if step.must is not None else "False"
            self.out.line(f"found.append(({index}, ({keys.rstrip()}), {must}))")
        for block in reversed(indents):
            block.__exit__(None, None, None)

    def _taken(self, step: kernel.Spontaneous) -> None:
        for index, (variable, entity) in enumerate(step.loops):
            self.out.line(f"{python_name(variable)} = self.{python_name(self.source.entity(entity).collection)}[keys[{index}]]")
        self.saw(step.clause)
        emits = [effect for effect in step.effects if isinstance(effect, kernel.Emit)]
        others = tuple(effect for effect in step.effects if not isinstance(effect, kernel.Emit))
        for name in _LISTS.values():
            self.out.line(f"{name}: list[Signal] = []")
        self.effects(others)
        self._signals(emits, _LISTS)
        if step.operation:
            arguments = ", ".join(self.projected(argument) for argument in step.arguments)
            self.out.line(f"outcome = self.do_{step.operation}({arguments})")
            self.out.line(
                "return Outcome(outcome.value, (*signals, *outcome.signals), (*may, *outcome.may), (*again, *outcome.again))"
            )
        else:
            self.out.line("return Outcome(None, tuple(signals), tuple(may), tuple(again))")

    def timers(self) -> None:
        """Write which timers run, and what happens when one is due."""
        timers = [(entity, timer) for entity in self.source.entities for timer in entity.timers]
        self.method("deadlines", "", "list[tuple[int, int, Any]]")
        with self.out.block():
            if not timers:
                self.out.line("return []")
            else:
                self.out.line("found: list[tuple[int, int, Any]] = []")
                for index, (entity, timer) in enumerate(timers):
                    variable = python_name(entity.variable)
                    self.out.line(f"for {variable} in self.{python_name(entity.collection)}.values():")
                    with self.out.block():
                        self.out.line(f"if {variable}.state in {timer.states!r}{_guarded(timer.deadline)}:")
                        with self.out.block():
                            self.out.line(f"found.append(({emit(timer.deadline)}, {index}, {variable}.{python_name(entity.key)}))")
                self.out.line("return found")
        self.method("fire", "index: int, key: Any", "Outcome")
        with self.out.block():
            for index, (entity, timer) in enumerate(timers):
                self.out.line(f"if index == {index}:")
                with self.out.block():
                    self.out.line(f"{python_name(entity.variable)} = self.{python_name(entity.collection)}[key]")
                    self.saw(timer.clause)
                    self.out.line("signals: list[Signal] = []")
                    self.effects(timer.effects)
                    self.out.line("return Outcome(None, tuple(signals))")
            self.out.line("raise LookupError(index)")

    def invariants(self) -> None:
        """Write the check of every invariant; `earlier` is the model one step before."""
        self.method("broken", "earlier: Model | None = None", "str")
        with self.out.block():
            backs = {invariant.looks_back for invariant in self.source.invariants if invariant.looks_back}
            for name in sorted(backs):
                entity = self.source.entity(name)
                self.out.line(
                    f"were_{entity.variable} = {{each.serial: each for each in earlier.{python_name(entity.collection)}.values()}} if earlier else {{}}"
                )
            for invariant in self.source.invariants:
                self._invariant(invariant)
            self.out.line('return ""')

    def _invariant(self, invariant: kernel.Invariant) -> None:
        indents = []
        for variable, entity in invariant.loops:
            self.out.line(f"for {python_name(variable)} in self.{python_name(self.source.entity(entity).collection)}.values():")
            block = self.out.block()
            block.__enter__()
            indents.append(block)
        if invariant.looks_back:
            variable = python_name(self.source.entity(invariant.looks_back).variable)
            self.out.line(f"was = were_{variable}.get({variable}.serial, {variable})")
        self.saw(invariant.clause)
        self.out.line(f"if not ({emit(invariant.holds)}):")
        with self.out.block():
            self.out.line(f"return {invariant.name!r}")
        for block in reversed(indents):
            block.__exit__(None, None, None)


_LISTS = {"once": "signals", "permitted": "may", "repeats": "again"}
_OUTCOME = {"once": "signals", "permitted": "may", "repeats": "again"}


def _states(entity: kernel.Entity, states: tuple[str, ...]) -> str:
    """Write some states of an entity: by the name of their group, where they are one."""
    group = next((name for name, members in entity.groups if members == states), None)
    return repr(states) if group is None else group_constant(entity.name, group)


def _stays(effect: kernel.Move) -> bool:
    """Tell whether a move never leaves the state it is in."""
    return all(emit(target) == repr(state) for state, target in effect.arrows)


def _reads(value: Typed) -> set[str]:
    """Give the names of the fields and variables that an expression reads."""
    found = {name for part in parts(value) for name in _reads(part)}
    match value:
        case Attribute(name=name) | Var(name=name):
            found.add(name)
        case InGroup():
            found.add("state")
    return found


def _renamed(value: Typed, old: str, new: str) -> Typed:
    """Give an expression that reads another record."""
    match value:
        case Var(name=name) if name == old:
            return Var(value.type, value.at, new, new)
        case Attribute(of=of, name=name):
            return Attribute(value.type, value.at, _renamed(of, old, new), name)
        case Operate(operator=operator, left=left, right=right):
            return Operate(value.type, value.at, operator, _renamed(left, old, new) if left else None, _renamed(right, old, new))
        case _:
            return value


def _guarded(deadline: Typed) -> str:
    """Write that a timer without a beginning does not run."""
    since = deadline.left if isinstance(deadline, Operate) else None
    return f" and {emit(since)} is not None" if since is not None and isinstance(since.type, Optional) else ""


"""What a lifecycle, or a part of it, asks for, in words: its operations, its rows, the machine, its choices, its clauses."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.errors import UsageError
from conformance.judge import kernel_facts
from conformance.skeleton import refusals, shape
from conformance.suite import ABOUT_MACHINE, MACHINE
from statemachines import kernel
from statemachines.compile import Compiled
from statemachines.diagnostics import did_you_mean
from statemachines.lifecycle import Policy, Row, RowStep


def explained(compiled: Compiled, part: str) -> str:
    """Return what a part of a life cycle means, or the whole of it; raise UsageError for a part that it has not.

    A section may be left out: `finish` is `operations.finish`.
    """
    if not part:
        return explain_lifecycle(compiled)
    if part in compiled.lifecycle.rows:
        return explain_row(compiled, part)
    if part == MACHINE:
        return explain_machine(compiled)
    found = explain_operation(compiled, part) or _explain_clauses(compiled, part) or explain_choice(compiled, part)
    if found:
        return found
    spec = compiled.lifecycle
    paths = [clause.path for clause in compiled.kernel.clauses]
    known = [*spec.rows, MACHINE, *spec.operations, *spec.limits, *spec.policies, *spec.signals, *spec.parts, *paths]
    hint = did_you_mean(part, known) or f"`conformance explain {compiled.called}` lists them"
    raise UsageError(f"{spec.name} has no row, operation, limit, policy, signal, part or clause {part!r}; {hint}")


def _explain_clauses(compiled: Compiled, part: str) -> str:
    """Return the clauses of a path, or of a path without its section: `finish` for `operations.finish`."""
    clauses = compiled.kernel.clauses
    sections = dict.fromkeys(each.path.partition(".")[0] for each in clauses)
    wanted = [part, *(f"{section}.{part}" for section in sections)]
    found = [each for each in clauses if any(kernel.within(each.path, path) for path in wanted)]
    return "\n".join(explain_clause(compiled, each) for each in found)


def explain_lifecycle(compiled: Compiled) -> str:
    """Return every operation with its parameters, reply and refusals, then every clause."""
    spec = compiled.lifecycle
    lines = [
        f"{spec.name}, revision {spec.version}",
        " ".join(spec.about.split()),
        "",
        "Limits and policies, which an implementation may declare as its own",
    ]
    declared = [(name, str(limit.default), limit.about) for name, limit in spec.limits.items()]
    for name, policy in spec.policies.items():
        choices = ", ".join(word.text for word in policy.choices)
        choices += f". {policy.default.text} is only recommended" if policy.is_recommended else ""
        declared.append((name, policy.default.text, f"{policy.about} One of: {choices}."))
    width = max((len(name) for name, _, _ in declared), default=0) + 2
    wide = max([10, *(len(default) for _, default, _ in declared)]) + 2
    lines += [f"  {name:<{width}}{default:<{wide}}{about}" for name, default, about in declared]
    lines += ["", "Operations"]
    for operation in compiled.kernel.operations:
        lines += _operation(operation)
    if spec.parts:
        lines += ["", "Parts, of which an implementation may declare that it has only some"]
        lines += [f"  {name}: {', '.join(word.text for word in words)}" for name, words in spec.parts.items()]
    lines += ["", "Signals: what the implementation does beside its replies"]
    for name, fields in compiled.kernel.signals:
        lines.append(f"  {name}({', '.join(f'{key}: {shape(kind)}' for key, kind in fields)})")
    if spec.definitions:
        lines += ["", "Names that clauses use"]
    for each in spec.definitions.values():
        parameters = ", ".join(word.text for word in each.parameters)
        lines.append(f"  {each.name.text}({parameters}): {each.body.text}")
    lines += ["", "Clauses (✓ must, ○ should)"]
    for clause in compiled.kernel.clauses:
        lines.append(f"  {'✓' if clause.level == 'must' else '○'} {clause.path:<58} {clause.text}")
    return "\n".join(lines)


def _operation(operation: kernel.Operation) -> list[str]:
    arguments = ", ".join(
        f"{each.name}: {shape(each.wire)}{'?' if each.default is not None else ''}" for each in operation.parameters
    )
    gives = shape(operation.reply.type) if operation.reply is not None else "nothing"
    lines = [f"  {operation.name}({arguments}){' (optional)' if operation.optional else ''}"]
    if operation.about:
        lines.append(f"      {' '.join(operation.about.split())}")
    lines.append(f"      gives {gives}")
    codes = refusals(operation)
    return lines + ([f"      refuses {', '.join(codes)}"] if codes else [])


def explain_row(compiled: Compiled, row_id: str) -> str:
    """Return a row: what it is about, the clauses that it covers, and its text in the spec."""
    row = compiled.lifecycle.rows[row_id]
    lines = [
        f"{row_id}  {row.about}",
        f"level {row.level}, source {row.source}, {row.id.where}",
        "",
        "It has to witness:",
    ]
    for word in row.covers:
        texts = [clause.text for clause in compiled.kernel.clauses if kernel.within(clause.path, word.text)]
        lines.append(f"  {word.text:<52} {texts[0] if texts else ''}")
    file = compiled.file_of(row.id.where)
    shared = [f"  needs {each.text}" for each in row.group.needs]
    shared += [f"  begins with {_step(each)}" for each in row.group.arrange]
    lines += ["", "Like every row of its group, it", *shared] if shared else []
    return "\n".join([*lines, *(["", *_source(file, row)] if file else [])])


def _step(step: RowStep) -> str:
    """Write a step in one line."""
    if step.loop is not None:
        steps = ", ".join(map(_step, step.body))
        return f"for each {step.loop.text} in {step.expr.text}: [{steps}]"
    return f"{step.binding.text} = {step.expr.text}" if step.binding else step.expr.text


def explain_machine(compiled: Compiled) -> str:
    """Return what the random machine does: how its cases begin, what they call, and who is asked after each call."""
    observers = [operation.name for operation in kernel_facts.of(compiled).observers()]
    return "\n".join(
        [
            f"{MACHINE}  {ABOUT_MACHINE}",
            "level must; no row of the spec, but made from it",
            "",
            "It makes random calls, with arguments that are worth trying where they are made; the seed chooses them.",
            "Some cases are drawn by Hypothesis, and some are long walks to what no other came to: they begin with nothing,",
            "or with as many ended records as are retained, one fewer, or one more. In others any two calls are made at once",
            "after a few more.",
            f"  calls           {', '.join(compiled.lifecycle.operations)}, wait",
            f"  asks after each {', '.join(observers)}",
            "A fault that a row saw without being about it is reported here, too.",
        ]
    )


def _source(file: Path, row: Row) -> list[str]:
    """Return the lines of a row in the file where it stands."""
    text = file.read_text(encoding="utf-8").splitlines()
    first = row.id.where.line - 1
    indent = row.id.where.column - 1
    found = [text[first]]
    for line in text[first + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        found.append(line)
    while not found[-1].strip():
        found.pop()
    return found


def explain_choice(compiled: Compiled, name: str) -> str:
    """Return a limit, a policy or a signal: what it is, and the rows and clauses that speak of it; nothing for another name.

    Of a part, the operations that it has. `limits`, `policies`, `signals` and `parts` are all of them.
    """
    spec, plain = compiled.lifecycle, name.rpartition(".")[2]
    groups = {"policies": spec.policies, "limits": spec.limits, "signals": spec.signals, "parts": spec.parts}
    if name in groups:
        return "\n".join(explain_choice(compiled, f"{name}.{each}") for each in groups[name])
    match next((each for each, known in groups.items() if plain in known and name in (plain, f"{each}.{plain}")), ""):
        case "policies":
            word, head = f"policies.{plain}", _policy(spec.policies[plain])
        case "limits":
            limit = spec.limits[plain]
            word, head = f"limits.{plain}", [limit.about, f"{limit.default} where nothing else is declared"]
        case "signals":
            fields = dict(compiled.kernel.signals)[plain]
            word, head = f".signal.{plain}", [", ".join(f"{key}: {shape(kind)}" for key, kind in fields)]
        case "parts":
            return "\n".join(
                [f"{plain}, a part that may be all there is", *(f"  {word.text}" for word in spec.parts[plain])]
            )
        case _:
            return ""
    speaks = re.compile(rf"{re.escape(word)}\b")
    rows = [row.id.text for row in spec.rows.values() if any(speaks.search(need.text) for need in row.needs)]
    names = [each.name.text for each in spec.definitions.values() if speaks.search(each.body.text)]
    clauses = [each for each in compiled.kernel.clauses if speaks.search(each.text) or speaks.search(each.path)]
    lines = [plain, *(f"  {line}" for line in head)]
    lines += [f"  needed by {', '.join(rows)}"] if rows else []
    lines += [f"  read by {', '.join(names)}"] if names else []
    return "\n".join([*lines, *(explain_clause(compiled, each) for each in clauses)])


def _policy(policy: Policy) -> list[str]:
    """Say what may be chosen."""
    choices, default = ", ".join(word.text for word in policy.choices), policy.default.text
    if policy.is_recommended:
        means = f"{default} is only recommended: who declares nothing may do as any of these says"
    elif policy.is_undeclared:
        means = "who declares nothing may do as any of these says"
    else:
        means = f"{default} where nothing is declared"
    return [" ".join(policy.about.split()), f"one of {choices}; {means}"]


def explain_operation(compiled: Compiled, name: str) -> str:
    """Return an operation, with or without its section: its form, what it is for, and its clauses; nothing for another name."""
    name = name.removeprefix("operations.")
    operation = next((each for each in compiled.kernel.operations if each.name == name), None)
    if operation is None:
        return ""
    path = f"operations.{name}"
    clauses = [each for each in compiled.kernel.clauses if kernel.within(each.path, path)]
    form = [line.removeprefix("  ") for line in _operation(operation)]
    return "\n".join([*form, *(explain_clause(compiled, each) for each in clauses)])


def explain_clause(compiled: Compiled, clause: kernel.Clause) -> str:
    """Return a clause: its sentence, where it stands, its level, and the rows that cover it."""
    rows = [
        row.id.text
        for row in compiled.lifecycle.rows.values()
        if any(kernel.within(clause.path, word.text) for word in row.covers)
    ]
    covered = f"covered by {', '.join(rows)}" if rows else "covered by no row"
    return f"{clause.path}\n  {clause.text}\n  {clause.level}, {clause.where}, {covered}"

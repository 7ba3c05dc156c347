"""What a condition tells about nullables: `job.ended_at != null && …` knows more on its right side."""

from __future__ import annotations

from statemachines.expression.syntax import Binary, Field, Index, Literal, Name, Node, Unary


def facts(node: Node, truth: bool) -> frozenset[str]:
    """Return the nullables that surely hold a value once `node` is known to be true, or false."""
    match node:
        case Unary(operator="!", operand=operand):
            return facts(operand, not truth)
        case Binary(operator="&&", left=left, right=right) if truth:
            return facts(left, True) | facts(right, True)
        case Binary(operator="||", left=left, right=right) if not truth:
            return facts(left, False) | facts(right, False)
        case Binary(operator="!=" | "==") if (node.operator == "!=") is truth:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(other, Literal) and other.value is None and (path := path_of(one)):
                    return frozenset((path,))
    return frozenset()


def path_of(node: Node) -> str:
    """Write a name or a chain of fields as one text, or give '' for anything else."""
    match node:
        case Name(name=name):
            return name
        case Field(of=of, name=name) if inner := path_of(of):
            return f"{inner}.{name}"
        case Index(of=of, index=Literal(value=int(index))) if inner := path_of(of):
            return f"{inner}[{index}]"
    return ""

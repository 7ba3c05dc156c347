"""What the operations of a life cycle take and give."""

from __future__ import annotations

from statemachines.kernel import Kernel
from statemachines.rows.programs import Observed
from statemachines.types import NULL, Id, RecordType, Type, present


class CallTypes:
    """The types of the operations of a life cycle, looked up by name; what no spec declares, such as `wait`, has none."""

    def __init__(self, source: Kernel) -> None:
        self._kernel = source
        self._operations = {operation.name: operation for operation in source.operations}

    def gives(self, operation: str) -> Type:
        """Return the type of an operation's reply."""
        found = self._operations.get(operation)
        return found.reply.type if found is not None and found.reply is not None else NULL

    def takes(self, operation: str) -> dict[str, Type]:
        """Return the types of an operation's arguments; none of what no spec declares, such as `wait`."""
        found = self._operations.get(operation)
        return {each.name: present(each.wire) for each in found.parameters} if found is not None else {}

    def identified(self, operation: str) -> dict[str, str]:
        """Return the fields of a reply that hold the id of a record, each with its entity; '' where the reply is an id."""
        kind = self.gives(operation)
        fields = kind.fields if isinstance(kind, RecordType) else (("", kind),)
        ids = ((name, each) for name, field in fields if isinstance(each := present(field), Id))
        return {name: each.entity for name, each in ids if not self._kernel.entity(each.entity).fixed}

    def ids(self, call: Observed) -> dict[str, str]:
        """Return the ids of records in a reply that is compared, by the field that holds them."""
        found = call.given if isinstance(call.given, dict) else {"": call.given}
        names = self.identified(call.operation)
        return {name: found[name] for name in names if isinstance(found.get(name), str)}

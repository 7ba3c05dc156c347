"""How an implementation says no: the one name that an adapter takes from the kit."""


class Refused(Exception):
    """Raised by an adapter when the system refuses an operation.

    `code` is a reason code of the lifecycle (`not_found`, `already_resolved`, …). `message` may hold the
    words of the system, for whoever catches it; the kit neither compares nor reports them.
    """

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

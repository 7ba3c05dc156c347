"""Whether what came to pass exercised a row: all that it covers has to."""

from __future__ import annotations

from collections.abc import Collection

from statemachines.kernel import within
from statemachines.lifecycle import Row, Word


def not_exercised(row: Row, witnessed: Collection[str]) -> list[Word]:
    """List what a row covers of which no clause came to pass; `witnessed` are the paths of those that did.

    Whether a call is carried out is open where that row looks, and a system may refuse it each time.
    """
    covered = [path for path in witnessed if any(within(path, word.text) for word in row.covers)]
    left_open = {path.rpartition(".open.")[0] for path in covered if ".open." in path}
    unseen = (word for word in row.covers if not any(within(path, word.text) for path in covered))
    return [word for word in unseen if not any(within(word.text, operation) for operation in left_open)]

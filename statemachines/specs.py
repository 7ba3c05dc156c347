"""Where the shipped lifecycle specs and JSON schemas are, in a wheel and in a checkout alike.

The data lives once, in `spec/` at the top of the repository. A wheel carries it inside this
package as `_spec/`. Plain paths are enough, and cheaper to import than `importlib.resources`:
installers unpack wheels, and a diagnostic has to name a file that a person can open.
"""

import json
from pathlib import Path
from typing import Any, Final

from statemachines.diagnostics import did_you_mean

RULES: Final = "rules.yaml"
"""The file of a spec's folder that is read first; it names the files of rows beside it."""

_PACKAGED = Path(__file__).with_name("_spec")
_CHECKOUT = Path(__file__).parent.parent / "spec"


def shipped() -> dict[str, Path]:
    """Return every shipped lifecycle by name (`thread-job`), each with the path of its rules, sorted by name."""
    return {path.parent.name: path for path in sorted(_folder().glob(f"*/{RULES}"))}


def spec_path(name: str) -> Path:
    """Return the rules of the shipped lifecycle `name`. Raises LookupError, naming those there are."""
    return _named(name, shipped(), "lifecycle")


def schema(name: str) -> dict[str, Any]:
    """Return the JSON schema `name` (`lifecycle`, `report`), parsed anew at each call.

    Raises LookupError, naming the schemas there are.
    """
    schemas = {path.name.partition(".")[0]: path for path in sorted(_folder().glob("*.schema.json"))}
    found: dict[str, Any] = json.loads(_named(name, schemas, "schema").read_text(encoding="utf-8"))
    return found


def _folder() -> Path:
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def _named(name: str, known: dict[str, Path], kind: str) -> Path:
    if name in known:
        return known[name]
    names = ", ".join(known) or f"none: {_folder()} holds no {kind}"
    hint = did_you_mean(name, known)
    raise LookupError(f"no {kind} is named {name!r}; known: {names}{f'; {hint}' if hint else ''}")

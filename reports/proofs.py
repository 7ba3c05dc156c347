"""Proves the shipped specs and writes what came of it into docs/proofs.md: `python -m reports.proofs NAME…` for some of them.

Each is proved as `conformance prove` does, in two processes. What was found of the others before stays as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from statemachines.compile import load
from statemachines.mutants import mutants
from statemachines.specs import shipped, spec_path

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "proofs.md"
BEGIN, END = "<!-- figures: made by `python -m reports.proofs` -->", "<!-- end of the figures -->"
OUTCOMES: Final = ("found", "survives", "allowed", "alike")

Figures = Mapping[str, Any]


def file_of(lifecycle: str) -> Path:
    """Return where the figures of a life cycle are kept."""
    return Path(__file__).parent / "proofs" / f"{lifecycle}.json"


def asked_of(lifecycle: str) -> str:
    """Return what a proof asks as a digest: the rows as they are required, and the mistakes that are tried on them."""
    required = (spec_path(lifecycle).parent / "requirements").glob("*.yaml")
    tried = ((each.operator, each.clause, each.does) for each in mutants(load(lifecycle).kernel))
    said = [*(file.read_text(encoding="utf-8") for file in sorted(required)), *map(str, tried)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


def figures_of(proof: Mapping[str, Any], asked: str) -> Figures:
    """Return what is kept of a proof, as `conformance prove --json` writes it, with the digest of what it asked."""
    mistakes = proof["mistakes"]
    searched = [each["search"] for each in mistakes if each["search"] is not None]
    return {
        "lifecycle": proof["lifecycle"],
        "revision": proof["revision"],
        "asked": asked,
        "mistakes": len(mistakes),
        **{outcome: sum(each["outcome"] == outcome for each in mistakes) for outcome in OUTCOMES},
        "searched": len(searched),
        "found by the search": sum(each["found"] for each in searched),
        "in one round": sum(each["found"] and each["round"] == 1 for each in searched),
        "survivors": [f"{each['clause']}: {each['does']}" for each in mistakes if each["outcome"] == "survives"],
        "rows that find nothing": proof["rows_that_find_nothing"],
        "dead systems that pass": proof["dead_systems_that_pass"],
    }


def page_with(text: str, figures: Sequence[Figures]) -> str:
    """Return the text of the page with a table of the figures between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{chr(10).join(_table(figures))}\n{END}{after}"


def _table(figures: Sequence[Figures]) -> Iterator[str]:
    yield "| life cycle | mistakes | a row finds | survive | allowed | alike | by the search alone | in one round | MUST rows that find none |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for each in figures:
        counts = " | ".join(str(each[name]) for name in ("mistakes", *OUTCOMES))
        searched = each["searched"]
        alone = f"{each['found by the search']} of {searched} | {each['in one round']}" if searched else "not asked |"
        idle = ", ".join(row["row"] for row in each["rows that find nothing"] if row["level"] == "must") or "none"
        yield f"| {each['lifecycle']} {each['revision']} | {counts} | {alone} | {idle} |"
    survivors = [(each["lifecycle"], mistake) for each in figures for mistake in each["survivors"]]
    if survivors:
        yield ""
        yield "What no row finds:"
        yield ""
        yield from (f"- {name}: {mistake}" for name, mistake in survivors)


def kept() -> list[Figures]:
    """Return the figures of all life cycles that were proved."""
    files = [file_of(name) for name in shipped() if file_of(name).exists()]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove, keep the figures, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m reports.proofs", description=__doc__, allow_abbrev=False)
    parser.add_argument("lifecycles", nargs="*", metavar="LIFECYCLE", help="which of them; all by default")
    parser.add_argument("--search", action="store_true", help="also ask the search alone; takes long")
    options = parser.parse_args(arguments)
    for name in options.lifecycles or shipped():
        asked = asked_of(name)  # as it is now: a proof takes long
        words = ["prove", name, "-n", "2", "--json", *(["--search"] if options.search else [])]
        run = subprocess.run(
            [sys.executable, "-m", "conformance", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
        )
        if not run.stdout:
            return run.returncode
        found = json.dumps(figures_of(json.loads(run.stdout), asked), indent=2, ensure_ascii=False)
        file_of(name).parent.mkdir(exist_ok=True)
        file_of(name).write_text(found + "\n", encoding="utf-8")
        PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), kept()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

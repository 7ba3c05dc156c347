"""Makes the reports of this folder again: `make reports`, or `python -m reports.make NAME…` for some of them.

Each reference, and each example in another language, is run as a whole with the default seed. A report whose run does not
conform is not written. What has changed is said, as `conformance compare` does.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from conformance import __version__
from statemachines.specs import shipped

FOLDER: Final = Path(__file__).parent
BUILDS: Final = {"rust": "cargo build --release --locked --manifest-path examples/rust/Cargo.toml"}
TARGETS: Final = {
    **{("reference", lifecycle): "reference" for lifecycle in shipped()},
    ("javascript", "thread-job"): "stdio:node examples/javascript/adapter.js",
    ("rust", "background-tasks"): "stdio:examples/rust/target/release/tasks",
}
"""What each system and life cycle is run against, from the root of the repository."""


def report_of(system: str, lifecycle: str) -> Path:
    """Return the file of a report."""
    return FOLDER / f"{system}-{__version__}.{lifecycle}.jsonl"


def _conformance(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "conformance", *words], cwd=FOLDER.parent, check=False).returncode


def make(system: str, lifecycle: str) -> int:
    """Run a system and keep its report; return the exit code."""
    if system in BUILDS:
        subprocess.run(shlex.split(BUILDS[system]), cwd=FOLDER.parent, check=True)
    report = report_of(system, lifecycle)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / report.name
        words = ["--against", TARGETS[system, lifecycle], "-n", "2", "--report", str(made), "--save", folder]
        if failed := _conformance("run", lifecycle, *words):
            return failed
        if report.exists():
            _conformance("compare", str(report), str(made))
        shutil.copyfile(made, report)
    return 0


def main(names: list[str]) -> int:
    """Make the reports that are named, as their files are or a part of that; all of them without a name."""
    wanted = [each for each in TARGETS if not names or any(name in report_of(*each).name for name in names)]
    return max((make(*each) for each in wanted), default=2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

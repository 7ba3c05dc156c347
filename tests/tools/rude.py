"""A tool that does to its caller what no tool should: the first argument says what."""

from __future__ import annotations

import subprocess
import sys
import time


def main() -> int:
    """Misbehave in one way."""
    match sys.argv[1]:
        case "hangs":
            time.sleep(600)
        case "floods":
            sys.stdout.write("x" * (2 << 20))
        case "raves":
            sys.stdout.buffer.write(b"\xff{not json")
        case "fails":
            sys.stderr.write("first line\nthe disk is full\n")
            return 9
        case "lingers":  # a child in a session of its own keeps stdout open
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
            sys.stdout.write('{"job_id": "a", "status": "running"}')
    return 0


if __name__ == "__main__":
    sys.exit(main())

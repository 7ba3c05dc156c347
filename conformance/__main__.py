"""`python -m conformance`: the same as the command."""

from conformance.cli import main

raise SystemExit(main())

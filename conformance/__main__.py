"""`python -m conformance`: the same as the command."""

from conformance.command import main

raise SystemExit(main())

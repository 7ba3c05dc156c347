"""A life cycle, call by call, in a terminal: the state of its model, what may come next, and what is answered.

`stepped` reads what a person types; a `Session` is the calls made so far, which may be taken back or saved as a row.
"""

from __future__ import annotations

from conformance.stepping.prompt import stepped
from conformance.stepping.session import Candidate, NotTaken, Session

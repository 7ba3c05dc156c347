"""Systems in other processes and other languages: what passes between the kit and an adapter there, by pipe or by HTTP.

`RemoteAdapter` is the adapter here, `stdio` and `http` are the ways to reach one there.
"""

from __future__ import annotations

from conformance.remote.adapter import Link, RemoteAdapter
from conformance.remote.http import HttpLink, address_of
from conformance.remote.process import Overheard, ProcessLink, command_of
from conformance.remote.protocol import NO_METHOD, PROTOCOL, Message, ProtocolError, check_welcome, result_of, shortened

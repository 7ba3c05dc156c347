"""Where work is done that can be spread: on processes of this machine, or on the workers of a Dask cluster.

What comes of it is the same wherever it was done. Each piece depends on nothing but what it is given, and a cluster
does again what a worker had begun that is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Final

from conformance.__about__ import __version__
from conformance.errors import UsageError
from conformance.garbage import collect_seldom
from conformance.system import error_told
from statemachines.compile import Compiled, load
from statemachines.requirements import spec_hash
from statemachines.specs import RULES

CONNECT_SECONDS: Final = 10.0
"""How long the scheduler of a cluster may take to answer."""

ANSWER_SECONDS: Final = 120.0
"""How long each of its workers may take for what all of them are asked: a system may be slow to begin."""

Ask = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
"""Asks a function once for each tuple of arguments; gives what it returns, in their order. It is pickled by its name."""

_end_process = os._exit  # a run keeps systems from it
_AT_A_TIME = threading.Lock()  # a worker may have several threads, and what a process keeps is for one


class Cluster:
    """The workers of a Dask cluster, one of which is asked at a time for each of its threads.

    Raises UsageError where there is no cluster at the address of a scheduler, such as `tcp://host:8786`, or no worker that
    can do the work.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client  # an extra, and slow to import
            from distributed.comm.addressing import parse_address, parse_host_port
        except ImportError:
            raise UsageError("a cluster needs Dask; pip install 'lifecycle-conformance[cluster]'") from None
        self.address = address
        try:
            _, place = parse_address(address, strict=True)
            # one that connects in vain leaves a thread behind that the next one may wait for
            socket.create_connection(parse_host_port(place), CONNECT_SECONDS).close()
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # noqa: BLE001 - what is no address, and what nobody answers at, comes in many forms
            reason = error_told(error).partition("\n")[0]
            raise UsageError(f"no Dask scheduler answers at {address}, such as tcp://host:8786: {reason}") from None
        try:
            if not self.lanes:
                raise UsageError(f"the cluster at {address} has no worker; `dask worker {address}` starts one")
            self.needs(partial(_another_than, __version__), f"need lifecycle-conformance {__version__}")
        except BaseException:
            self.close()
            raise

    @property
    def lanes(self) -> int:
        """How many pieces of work are done at once; 0 where the cluster is gone."""
        try:
            return sum(self._client.nthreads().values())
        except Exception:  # noqa: BLE001 - it comes in many forms that nobody answers
            return 0

    @property
    def executor(self) -> Executor:
        """What takes the pieces of work; each may be done twice, where a worker is gone."""
        found: Executor = self._client.get_executor(pure=False)
        return found

    def everywhere(self, function: Callable[..., Any], *given: Any) -> dict[str, Any]:
        """Call a function once on each worker; return what it gives or the error that it raises, by the worker's address.

        A TimeoutError stands for what takes too long.
        """
        found: dict[str, Any] = self._client.run(_beside, ANSWER_SECONDS, function, *given, on_error="return")
        return found

    def tell(self, function: Callable[..., Any], *given: Any) -> None:
        """Call a function once on each worker, as far as there are any left."""
        with contextlib.suppress(Exception):
            self.everywhere(function, *given)

    def needs(self, refusal: Callable[[], str], what: str) -> None:
        """Raise UsageError where one of the workers says why not: a function gives a text there, that is empty where all is well."""
        for worker, found in self.everywhere(refusal).items():
            if found:
                said = f"{type(found).__name__}: {found}" if isinstance(found, Exception) else found
                raise UsageError(f"the workers of the cluster {what}; {worker} says: {said}")

    def close(self) -> None:
        """Leave the cluster; it goes on without this process."""
        self._client.close()


@contextmanager
def cluster_at(address: str) -> Iterator[Cluster | None]:
    """Yield the cluster at an address, and leave it at the end; None for no address. Raises UsageError as Cluster does."""
    cluster = Cluster(address) if address else None
    try:
        yield cluster
    finally:
        if cluster is not None:
            cluster.close()


@contextmanager
def spread(processes: int = 1, cluster: Cluster | None = None) -> Iterator[Ask]:
    """Yield what asks a function many times: on so many processes of this machine, or on a cluster.

    Whoever is interrupted waits for none of them, and the processes end with this one whatever ends it. Raises UsageError
    where the cluster is gone meanwhile.
    """
    if cluster is not None:
        executor = cluster.executor
        try:
            yield lambda function, given: executor.map(_OneAtATime(function), given)
        except Exception:
            if cluster.lanes:
                raise
            raise UsageError(
                f"the cluster at {cluster.address} is gone before all was done; begin again, there or with -n"
            ) from None
        finally:
            executor.shutdown(wait=False)  # without the work that nobody asks for any more
        return
    spawning = get_context("spawn")
    theirs, ours = spawning.Pipe(duplex=False)
    with theirs, ours:
        pool = ProcessPoolExecutor(processes, spawning, _begin, (theirs,))
        try:
            yield lambda function, given: pool.map(_OneAtATime(function), given)
        except BaseException:
            ours.close()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()


async def _beside(seconds: float, function: Callable[..., Any], *given: Any) -> Any:
    """Call a function beside what a worker does to stay in the cluster. Raises TimeoutError after so many seconds."""
    try:
        return await asyncio.wait_for(asyncio.to_thread(function, *given), seconds)
    except TimeoutError:
        raise TimeoutError(f"no answer within {seconds:g} s") from None


def _begin(asked_by: Connection) -> None:
    """Begin a process that ends once whoever asks it closes the other end of a pipe, as also the end of that process does."""
    collect_seldom()

    def wait_for_end() -> None:
        with contextlib.suppress(EOFError, OSError):
            asked_by.recv()
        _end_process(0)

    threading.Thread(target=wait_for_end, daemon=True).start()


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A spec as another process finds it: by its path, and by the hash of what it says here: there another text may be."""

    path: str
    says: str

    def load(self) -> Compiled:
        """Return it compiled. Raises UsageError where the file says something else, and whatever loading a spec raises."""
        compiled = load(self.path)
        if spec_hash(compiled.lifecycle) != self.says:
            raise UsageError(
                f"{self.path} says something else than where this began; begin again when it is the same everywhere"
            )
        return compiled


def spec_file(compiled: Compiled) -> SpecFile | None:
    """Return where another process finds a spec; None where it was not loaded from a file."""
    origin = compiled.origin
    if origin is None:
        return None
    return SpecFile(str(origin.parent if origin.name == RULES else origin), spec_hash(compiled.lifecycle))


@dataclass(frozen=True, slots=True)
class _OneAtATime:
    """A function of which one is called at a time in a process, with all that is given as one tuple."""

    function: Callable[..., Any]

    def __call__(self, given: tuple[Any, ...]) -> Any:
        with _AT_A_TIME:
            return self.function(*given)


def _another_than(version: str) -> str:
    return "" if version == __version__ else f"it has {__version__}"

"""Work spread over a cluster: it comes to what one process comes to, also when a worker is killed in the middle of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # Dask brings it along
import pytest
from distributed import Client

import conformance
from conformance import workers
from conformance.api import prepared
from conformance.errors import UsageError
from conformance.proving import Proof, proved
from conformance.report import Watcher
from conformance.suite import sharding
from conformance.verdict import RowResult
from conformance.workers import Cluster, cluster_at, spread
from statemachines.compile import load
from tests.conformance.suite.test_sharding import WITHOUT_THREADS, Alone, settled

NOWHERE = "tcp://127.0.0.1:9"  # the port of a service that throws away what it is told, and that nobody runs
BEGINS = 30.0  # seconds that a process of a cluster has to begin
ENDS = 5.0  # seconds that it has to end, before it is killed


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """Run the scheduler of a cluster; yield its address."""
    told = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--dashboard-address", ":0"]
    with running("dask_scheduler", *options, "--scheduler-file", str(told)):
        until = time.monotonic() + BEGINS
        while not (told.exists() and told.stat().st_size) and time.monotonic() < until:
            time.sleep(0.05)  # the file is there before its words, which are written at once
        yield json.loads(told.read_text(encoding="utf-8"))["address"]


@contextmanager
def running(command: str, *options: str) -> Iterator[None]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{command}", *options], stdout=quiet, stderr=quiet
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(ENDS)
        except subprocess.TimeoutExpired:  # a worker waits for what it does
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a cluster has two workers, each a process that is begun again when it is gone."""
    folder = tmp_path_factory.mktemp("cluster")
    options = ["--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
    with scheduler(folder) as found, running("dask_worker", found, *options):
        client = Client(found)
        client.wait_for_workers(2, BEGINS)
        client.close()
        yield found


def kill_one(address: str) -> int:
    """Kill a worker of a cluster of this machine, as if it had been switched off; return which."""
    with_ids = Cluster(address)
    worker = min(with_ids.everywhere(os.getpid).values())
    with_ids.close()
    os.kill(worker, signal.SIGKILL)
    return int(worker)


class Killer(Watcher):
    """Kills a worker once so many rows have been told."""

    def __init__(self, address: str, after: int) -> None:
        self.address, self.left = address, after
        self.killed: list[int] = []

    def row(self, result: RowResult) -> None:
        self.left -= 1
        if not self.left:
            self.killed.append(kill_one(self.address))


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [WITHOUT_THREADS, None])
def test_a_run_on_a_cluster_of_which_a_worker_is_killed_finds_what_one_process_finds(
    address: str, rows: str | None
) -> None:
    one = settled(conformance.run("task-progress", Alone, rows=rows, quick=True))
    assert any(record.get("verdict") == "fail" for record in one)
    killer = Killer(address, after=3)
    with prepared("task-progress", Alone, rows=rows, quick=True, cluster=address) as run:
        assert settled(run.go([killer])) == one
    assert killer.killed


def told_apart(proof: Proof) -> list[tuple[Any, ...]]:
    """What a proof says, but for how long it took."""
    return [
        (each.operator, each.clause, each.outcome, each.row, each.shown, each.search and each.search.found)
        for each in proof.trials
    ]


@pytest.mark.thorough
def test_a_proof_on_a_cluster_of_which_a_worker_is_killed_says_what_one_process_says(address: str) -> None:
    compiled, killed = load("task-progress"), list[int]()

    def told(done: int, of: int) -> None:
        if done == 2:
            killed.append(kill_one(address))

    given: dict[str, Any] = {"clause": "operations.start", "searched": True}
    with cluster_at(address) as cluster:
        found = proved(compiled, cluster=cluster, told=told, **given)
    assert killed
    assert told_apart(found) == told_apart(proved(compiled, **given))


def children() -> int:
    return len(psutil.Process().children())


def test_a_run_on_a_cluster_leaves_no_process_of_its_own(address: str) -> None:
    with cluster_at(address) as cluster:
        assert cluster is not None
        before = cluster.everywhere(children)
        report = conformance.run("task-progress", "reference", rows="N1,N2,N3", quick=True, cluster=address)
        with prepared("task-progress", "reference", rows="N1", cluster=address):
            pass  # it is not begun
        assert cluster.everywhere(children) == before
    assert report.ok


def test_what_a_worker_is_asked_comes_back_in_order(address: str) -> None:
    with cluster_at(address) as cluster, spread(cluster=cluster) as ask:
        assert list(ask(divmod, [(number, 3) for number in range(7)])) == [divmod(number, 3) for number in range(7)]


def test_a_worker_that_is_asked_something_long_stays_in_the_cluster_meanwhile(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "ANSWER_SECONDS", 0.5)
    with cluster_at(address) as cluster:
        assert cluster is not None
        began = time.monotonic()
        with pytest.raises(UsageError, match=r"have to sleep; tcp:.* says: TimeoutError: no answer within 0\.5 s"):
            cluster.needs(partial(subprocess.getoutput, f"sleep {LASTS_LONG / 4}"), "have to sleep")
        assert len(set(cluster.everywhere(os.getpid).values())) == 2
        assert time.monotonic() - began < LASTS_LONG / 4


ENDS_SOON = 20.0  # seconds, on a busy machine
LASTS_LONG = 60.0


def is_gone(process: int) -> bool:
    """Return whether a process ends soon."""
    try:
        psutil.Process(process).wait(ENDS_SOON)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


def test_who_is_interrupted_waits_for_no_process() -> None:
    asked, began = 0, 0.0

    def leading() -> None:
        nonlocal asked, began
        with spread(1) as ask:
            (asked,) = ask(os.getpid, [()])
            ask(time.sleep, [(LASTS_LONG,)])
            began = time.monotonic()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leading()
    assert time.monotonic() - began < ENDS_SOON
    assert is_gone(asked)


LEADS = f"""
import os, time
from conformance.workers import spread

if __name__ == "__main__":
    with spread(1) as ask:
        print(*ask(os.getpid, [()]), flush=True)
        list(ask(time.sleep, [({LASTS_LONG},)]))
"""


def test_a_process_ends_with_the_one_that_asks_it(tmp_path: Path) -> None:
    file = tmp_path / "leads.py"
    file.write_text(LEADS, encoding="utf-8")
    kit = {**os.environ, "PYTHONPATH": str(Path(conformance.__file__).parent.parent)}
    with subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True, env=kit) as leading:
        assert leading.stdout is not None
        asked = int(leading.stdout.readline())
        leading.kill()
        assert is_gone(asked)


class Ender(Watcher):
    """Ends what it is given once the first row has been told; it watches a run."""

    def __init__(self, cluster: ExitStack) -> None:
        self.cluster = cluster

    def row(self, result: RowResult) -> None:
        self.cluster.close()


@pytest.mark.thorough
def test_a_run_whose_cluster_is_gone_does_what_is_left_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "LOST", 1)
    with ExitStack() as cluster:
        found = cluster.enter_context(scheduler(tmp_path))
        one = ["--nthreads", "1", "--no-nanny"]  # with two, one may have done all while the other begins
        cluster.enter_context(running("dask_worker", found, *one, "--local-directory", str(tmp_path)))
        client = Client(found)
        client.wait_for_workers(1, BEGINS)
        client.close()
        rows = "N1,N2,N3,E5"
        with (
            prepared("task-progress", "reference", rows=rows, quick=True, cluster=found) as run,
            pytest.warns(UserWarning, match=f"the cluster at {found} is gone, so what is left is run here"),
        ):
            report = run.go([Ender(cluster)])
    assert report.ok
    assert [each.id for each in report.rows] == rows.split(",")


# ── What cannot be used ──


class Gone:
    """A cluster that is gone while it is asked something."""

    address, lanes = NOWHERE, 0

    @property
    def executor(self) -> Any:
        """What takes the pieces of work, and calls each by a key."""
        pool: Any = ThreadPoolExecutor(1)
        pool.map = lambda function, given: pool.submit(self._lost).result()
        return pool

    def _lost(self) -> None:
        raise CancelledError("_OneAtATime-5f2a90")


def test_where_the_whole_cluster_is_gone_it_is_said_in_words() -> None:
    cluster: Any = Gone()
    with (
        pytest.raises(
            UsageError, match=f"^the cluster at {NOWHERE} is gone before all was done; begin again, [a-z -]*$"
        ),
        spread(cluster=cluster) as ask,
    ):
        ask(divmod, [(7, 3)])


def test_where_no_scheduler_is_none_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.3)
    with pytest.raises(UsageError, match=f"no Dask scheduler answers at {NOWHERE}, such as tcp://host:8786"):
        conformance.run("task-progress", "reference", rows="N1", cluster=NOWHERE)


@pytest.mark.parametrize("address", ["nonsense://x", "::", "host:port"])
def test_what_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.3)
    with pytest.raises(UsageError, match="no Dask scheduler answers at"):
        Cluster(address)


def test_a_cluster_without_a_worker_is_refused(tmp_path: Path) -> None:
    with (
        scheduler(tmp_path) as found,
        pytest.raises(UsageError, match=f"the cluster at {found} has no worker; `dask worker {found}` starts one"),
    ):
        Cluster(found)


def test_a_worker_with_another_version_of_the_kit_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "__version__", "99.1")
    with pytest.raises(UsageError, match=r"need lifecycle-conformance 99\.1; tcp:.* says: it has "):
        Cluster(address)


class Here(Alone):
    """A system that only a process can make that has what it needs."""

    def __init__(self) -> None:
        if "TABLE_OF_TASKS" not in os.environ:
            raise RuntimeError("no table on this machine")
        super().__init__()


def test_a_system_that_a_worker_cannot_make_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLE_OF_TASKS", "here")
    with pytest.raises(UsageError, match=r"have to be able to run python:.*Here; tcp:.*no table on this machine"):
        conformance.run("task-progress", Here, rows="N1", cluster=address)


def test_processes_and_a_cluster_are_not_asked_at_once() -> None:
    with pytest.raises(UsageError, match=f"over 2 processes or over the cluster at {NOWHERE}: one of both"):
        conformance.run("task-progress", Alone, rows="N1", workers=2, cluster=NOWHERE)
    with pytest.raises(UsageError, match="cluster is 8786, and it is the address"):
        conformance.run("task-progress", Alone, rows="N1", cluster=8786)  # type: ignore[arg-type]  # what is wrong


def test_without_dask_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'lifecycle-conformance\[cluster\]'"):
        conformance.run("task-progress", "reference", rows="N1", cluster=NOWHERE)

"""What can be asked of the kit from Python; the command line asks the same.

Whatever is given and cannot be used raises UsageError, what prevents asking the system raises HarnessError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.budget import USUAL
from conformance.defaults import CALL_LIMIT
from conformance.errors import UsageError, faults_told
from statemachines.compile import Compiled, load
from statemachines.lifecycle import Level

if TYPE_CHECKING:  # who only loads a spec does not wait for the judge and the searches
    from conformance.logs import LogResult
    from conformance.report import Report
    from conformance.suite import Known, Pace, Replay, Run
    from conformance.system import Adapter

System = Callable[[], Any] | str
"""A class, a function that makes an object, or a text: `reference`, `python:module:Class`, `cli:FILE.yaml`."""


def run(
    lifecycle: str | Path,
    system: System,
    *,
    rows: str | Sequence[str] | None = None,
    seed: int = 0,
    quick: bool = False,
    fail_on: Level = "must",
    baseline: str | Path | None = None,
    revision: int | None = None,
    call_limit: float = CALL_LIMIT,
    save: str | Path | None = None,
    workers: int = 1,
    cluster: str = "",
) -> Report:
    """Return the report of a run: each row of a life cycle against a system, and the random machine.

        report = conformance.run("thread-job", MyJobs, rows="N*")
        report.ok, report["N1"].verdict, report        # the last one prints as the command does

    lifecycle   a shipped name such as "thread-job", or the path of a spec
    system      a class, or a function without parameters: a fresh object is made for each case; or the text of a
                target: "reference", "python:module:Class" or "cli:FILE.yaml"
    rows        a pattern, or several: "N*", "N1,E*" or ["N1", "machine"]; None: all of them, and the machine
    seed        what is drawn and scheduled; the same seed draws the same
    quick       fewer drawn values, schedules and random calls
    fail_on     the lowest level that makes the run fail: "must" or "should"
    baseline    a YAML file of failures that are known, by row or clause; those that the system declares count as well
    revision    the revision whose frozen requirements count; None: the newest that is frozen
    call_limit  seconds that one call may take
    workers     processes that the rows and the search are spread over; the report is the same
    cluster     instead of processes the workers of a Dask cluster, by the address of its scheduler: "tcp://host:8786"
    save        the folder for counterexamples, each as LIFECYCLE-ROW.yaml, which `replay` reads; None: none is saved

    Raises UsageError for a life cycle, a row or a system that there is not, and for a file with faults;
    HarnessError when the system cannot be imported or made. A fault of the system raises nothing: it is in the report.
    """
    from conformance.suite import Saver

    if not isinstance(save, str | Path | None):
        raise UsageError(f"save is {save!r}, and it is a folder")
    chosen = prepared(
        lifecycle,
        system,
        rows=rows,
        seed=seed,
        quick=quick,
        fail_on=fail_on,
        baseline=baseline,
        revision=revision,
        call_limit=call_limit,
        workers=workers,
        cluster=cluster,
    )
    with chosen as whole:
        if save is None:
            return whole.go()
        saver = Saver(Path(save))
        return replace(whole.go([saver]), replays=saver.commands)


def replay(file: str | Path, system: System, *, call_limit: float = CALL_LIMIT) -> Replay:
    """Return what comes of a saved counterexample when it is played again on a system.

        conformance.replay(".conformance/thread-job-B7.yaml", MyJobs)       # C1 of B7: fixed

    file  a counterexample that a run has saved, or that was written by hand

    Raises UsageError for a file with faults or a system that there is not, HarnessError when the system cannot
    be imported or made.
    """
    from conformance.suite import read
    from conformance.suite import replay as replayed
    from statemachines.rows import RowTooLong

    check_arguments(call_limit=call_limit)
    with faults_told("counterexample"):
        saved = read(str(file))
        with opened(saved.compiled, system, call_limit) as adapter:
            try:
                return replayed(saved, adapter)
            except RowTooLong as error:
                where = f"{error.expr.where}: " if error.expr else ""
                raise UsageError(f"{where}{error.message}; a shorter row does") from None


OTEL = "otel"  # in place of a map: spans that are called as the operations are


def trace(lifecycle: str | Path, log: str | Path, log_map: str | Path | None = None) -> LogResult:
    """Return what comes of a log: how many of its entries the life cycle explains, and the first that it does not.

    log      a file of JSON Lines, or "-" for standard input
    log_map  the file of a map, or "otel"; None: the log is in the kit's own form

    Raises UsageError for a life cycle or a file that there is not, and for a map or a line with faults.
    """
    from conformance.logs import checked, of_spans, read_map, usual

    compiled = loaded(lifecycle)
    with faults_told("map"):
        spans = of_spans(compiled) if str(log_map) == OTEL else None
        found = spans or (usual(compiled) if log_map is None else read_map(compiled, str(log_map)))
    return checked(compiled, str(log), found)


# ── What stands behind all of it ──


LONGEST_LIMIT = 3600  # seconds
MOST_WORKERS = 256
INTERRUPTED_LIMIT = 0.2  # seconds that a system may take to close when somebody waits for the end


def check_workers(workers: Any, cluster: Any = "") -> None:
    """Raise UsageError for a number of processes, or the address of a cluster, that a run cannot use."""
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"workers is {workers!r}, and it is a number of processes from 1 to {MOST_WORKERS}")
    if not isinstance(cluster, str):
        raise UsageError(f"cluster is {cluster!r}, and it is the address of a Dask scheduler, such as tcp://host:8786")
    if cluster and workers > 1:
        raise UsageError(f"work is spread over {workers} processes or over the cluster at {cluster}: one of both")


def check_arguments(*, seed: Any = 0, quick: Any = False, fail_on: Any = "must", call_limit: Any = CALL_LIMIT) -> None:
    """Raise UsageError for a seed, a choice, a level or a limit that a run cannot use."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"seed is {seed!r}, and a seed is a whole number")
    if not isinstance(quick, bool):
        raise UsageError(f"quick is {quick!r}, and it is True or False")
    if fail_on not in ("must", "should"):
        raise UsageError(f"fail_on is {fail_on!r}, and it is one of 'must' and 'should'")
    is_number = isinstance(call_limit, int | float) and not isinstance(call_limit, bool)
    if not is_number or not 0 < call_limit <= LONGEST_LIMIT:
        raise UsageError(
            f"call_limit is {call_limit!r}, and a limit is more than 0 and at most {LONGEST_LIMIT} seconds"
        )


@contextmanager
def prepared(
    lifecycle: str | Path,
    system: System,
    *,
    rows: str | Sequence[str] | None = None,
    seed: int = 0,
    quick: bool = False,
    fail_on: Level = "must",
    baseline: str | Path | None = None,
    revision: int | None = None,
    call_limit: float = CALL_LIMIT,
    workers: int = 1,
    cluster: str = "",
    pace: Pace | None = None,
) -> Iterator[Run]:
    """Yield a run that can begin: all that was given is usable, and the system answers. See `run` for the rest."""
    from conformance.gating import measured_by
    from conformance.suite import Run, selected
    from conformance.workers import cluster_at

    check_arguments(seed=seed, quick=quick, fail_on=fail_on, call_limit=call_limit)
    check_workers(workers, cluster)
    compiled = loaded(lifecycle)
    selected(compiled, rows)  # before anything of the system runs
    known = known_failures(compiled, baseline)
    measure = measured_by(compiled, revision)
    with cluster_at(cluster) as reached, opened(compiled, system, call_limit) as adapter:
        with faults_told("spec"):
            budget = USUAL.quick() if quick else USUAL
            whole = Run(
                compiled,
                adapter,
                rows=rows,
                seed=seed,
                budget=budget,
                fail_on=fail_on,
                known=known,
                measure=measure,
                pace=pace,
                workers=workers,
                cluster=reached,
            )
            whole.faults = spec_faults(compiled)
        yield whole


@lru_cache(maxsize=16)
def spec_faults(compiled: Compiled) -> tuple[str, ...]:
    """Return what `check` tells of a spec, a line for each fault; of a shipped one nothing."""
    from statemachines.checks import check_compiled

    own = compiled.called != compiled.lifecycle.name
    return tuple(each.render().partition("\n")[0] for each in check_compiled(compiled).diagnostics) if own else ()


def known_failures(compiled: Compiled, baseline: str | Path | None) -> Known:
    """Return the known failures that a file names, or none; raise UsageError when it has faults."""
    from conformance.suite import read_baseline

    if not isinstance(baseline, str | Path | None):
        raise UsageError(f"baseline is {baseline!r}, and it is a file")
    with faults_told("baseline"):
        return {} if baseline is None else read_baseline(compiled, baseline)


@contextmanager
def opened(compiled: Compiled, system: System, call_limit: float = CALL_LIMIT) -> Iterator[Adapter]:
    """Yield an adapter that can be asked, and close it in the end."""
    from conformance.targets import open_system

    adapter = open_system(compiled, system)
    try:
        adapter.limit = call_limit
        adapter.ready()
        yield adapter
    except KeyboardInterrupt:
        adapter.limit = min(call_limit, INTERRUPTED_LIMIT)
        raise
    finally:
        adapter.close()


def loaded(lifecycle: str | Path) -> Compiled:
    """Return a compiled life cycle by its name, or by the path of its spec; raise UsageError when it has faults."""
    try:
        with faults_told("spec"):
            return load(lifecycle)
    except LookupError as error:
        raise UsageError(str(error)) from None

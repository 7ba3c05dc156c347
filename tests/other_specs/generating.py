"""Small random specs, as data and as YAML text: a number stands for one, always the same.

Each part of the language is drawn by a method of its own, and most of them are left out of any one spec.
"""

from __future__ import annotations

from typing import Any

import yaml

from tests.other_specs.drawing import Data
from tests.other_specs.extras import Extras

BOXES = ("b1", "b2")
OTHERWISE = (None, "refused too_late", "unchanged", {"answer": "unchanged", "may signal": {"Woken": {}}})
MOVES: dict[str, tuple[Data, Any]] = {
    "begin": ({"job": "Job"}, "waiting -> running"),
    "finish": ({"job": "Job", "outcome": "Outcome"}, "running -> outcome"),
    "stop": ({"job": "Job"}, "active -> failed"),
    "end": ({"job": "Job"}, {"waiting": "failed", "running": "completed"}),
    "keep": ({"job": "Job"}, "active -> same"),
}
FIELDS: dict[str, Any] = {
    "kind": "Kind",
    "note": "Note",
    "label": "Label",
    "box": "Box",
    "count": {"type": "int", "default": 0},
    "flag": {"type": "bool", "default": "false"},
    "ended_at": "time | null",
    "since": "time",
}
GIVEN = ("kind", "note", "label", "box")  # fields that a job is started with
LISTS = (
    "jobs",
    {"unordered": "jobs"},
    "jobs.filter(j, j.active)",
    "jobs.sortBy(j, j.serial).reversed()",
    "jobs.filter(j, j.terminal).map(j, j.id)",
)


class Author(Extras):
    """Writes one spec: `data`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._fields = [name for name in FIELDS if self._maybe(0.4)]
        self._starting = [name for name in GIVEN if name in self._fields]
        self._write()

    def _write(self) -> None:
        if "box" in self._fields:
            self._entities["Box"] = self._box()
        self._entities["Job"] = self._job()
        self._start()
        self._moves()
        self._looks()
        if self._maybe(0.5):
            self._entities["Part"] = self._parts()
        for likely in (self._batch, self._marks, self._refusals, self._messages, self._removal, self._own_steps):
            if self._maybe(0.35):
                likely()
        for rare in (self._waiting, self._pages, self._notices, self._deletions, self._choices, self._levels):
            if self._maybe(0.2):
                rare()
        found = {
            "limits": self._limits,
            "policies": self._policies,
            "should": self._should(),
            "types": self._types,
            "entities": self._entities,
            "variables": self._variables,
            "messages": self.data.pop("messages", {}),
            "signals": self._signals,
            "operations": self._operations,
            "parts": self.data.pop("parts", {}),
            "on its own": self.data.pop("on its own", {}),
            "invariants": {"final": "was.active || job.state == was.state"} if self._maybe(0.5) else {},
        }
        self.data |= {word: value for word, value in found.items() if value}
        self.data["matrix"] = self._rows()

    # ── Records ──

    def _box(self) -> Data:
        box: Data = {"fixed": list(BOXES), "plural": "boxes"}
        if self._maybe(0.6):
            box["fields"] = {"open": {"type": "bool", "default": "true"}}
            self._operations["toggle"] = {"takes": {"box": "Box"}, "set": {"box.open": "(!box.open)"}}
        return box

    def _job(self) -> Data:
        job: Data = {
            "id": self._one_of(("minted", "minted", "minted once")),
            "fields": {name: FIELDS[name] for name in self._fields},
            "states": {"active": ["waiting", "running"], "terminal": ["completed", "failed"]},
        }
        shown = [name for name in self._fields if name != "box" or self._maybe(0.5)]
        job["shows"] = {"job_id": "job.id", "status": "job.state", **{name: f"job.{name}" for name in shown}}
        if "label" in self._fields and self._maybe(0.5):
            job["unique"] = {"label": "label_taken"}
        if self._maybe(0.25):
            job["missing"] = self._one_of(("unchanged", "refused gone"))
        if self._maybe(0.5):
            job["entering"] = {self._one_of(("terminal", "running", "completed")): self._entering()}
        if self._maybe(0.35):
            job["retain"] = self._retain()
        if "since" in self._fields:
            job["after"] = self._timers()
        return job

    def _entering(self) -> Data:
        found: Data = {}
        if "ended_at" in self._fields:
            found["set"] = {"job.ended_at": "now"}
        if "count" in self._fields and self._maybe(0.5):
            found.setdefault("set", {})["job.count"] = "job.count + 10"
        if not found or self._maybe(0.5):
            told, word = self._signal("Over"), self._one_of(("signal", "signal", "may signal"))
            if word == "may signal":
                told["Over"].pop("times", None)
            found[word] = told
        return found

    def _retain(self) -> Data:
        self._limits["kept"] = {"default": self._one_of((1, 2, 3))}
        found: Data = {"newest": "limits.kept", "of": "terminal", "by": "job.completion"}
        if "box" in self._fields and self._maybe(0.5):
            found["per"] = "job.box"
        if self._maybe(0.3):
            keys = {"completion": "job.completion", "start": "job.serial"}
            self._policies["tie"] = {"of": "Job", "keys": keys, "default": "completion"}
            found["by"] = ["tie"]
        return found

    def _timers(self) -> Data:
        self._limits["patience"] = {"default": self._one_of((5, 1000))}
        timer: Data = {"in": "limits.patience", "since": "job.since"}
        if self._maybe(0.3):
            timer["within"] = self._one_of((3, 50))
        if self._maybe(0.3) and "flag" in self._fields:
            timer["when"] = "(!job.flag)"
        if self._maybe(0.4):
            timer["signal"] = self._signal("Late")
        ends = self._one_of(("move", "remove", "set"))
        if ends == "set" and "signal" not in timer:
            ends = "move"
        if ends == "move":
            timer["move"] = "failed"
        if ends == "remove":
            return {"terminal": {**timer, "remove": "job"}}
        if ends == "set":
            timer |= {"set": {"job.since": "now"}, "in": 1000}
            self._limits.pop("patience")
        return {self._one_of(("waiting", "running")): timer}

    def _parts(self) -> Data:
        """Draw records that belong to jobs: their ids are taken by later calls, in lists too."""
        part: Data = {"id": "minted", "fields": {"job": "Job", "size": "Size"}}
        self._types |= {"Size": {"from": 0, "to": 3}}
        self._operations["attach"] = {
            "takes": {"job": "Job", "size": "Size"},
            "create": {"Part": {"job": "job", "size": "size"}},
            "gives": {"part_id": "part.id"},
        }
        if self._maybe(0.3):
            self._operations["attach"]["requires"] = {"ended": "job.active"}
        if self._maybe(0.5):
            self._operations["detach"] = {
                "takes": {"part": "Part"},
                "for each": {"p": {"in": "parts", "when": "p == part", "remove": "p"}},
            }
        if self._maybe(0.5):
            self._types["PartId"] = {"id of": "Part", "or": "fresh"}
            self._operations["grow"] = {
                "takes": {"chosen": {"list of": "PartId"}},
                "for each": {"p": {"in": "parts", "when": "p.id in chosen", "set": {"p.size": "p.size + 1"}}},
            }
        self._operations["weigh"] = {
            "takes": {"job": "Job"},
            "gives": "parts.filter(p, p.job == job).map(p, p.size).sum()",
        }
        self._operations["parts_of"] = {
            "gives": self._one_of(({"unordered": "parts.map(p, p.id)"}, "parts.map(p, p.id)"))
        }
        return part

    # ── Operations ──

    def _start(self) -> None:
        start: Data = {"takes": {name: FIELDS[name] for name in self._starting}}
        self._types |= {
            name: declared
            for field, name, declared in (
                ("kind", "Kind", {"one of": ["small", "large"]}),
                ("note", "Note", {"text": "short"}),
                ("label", "Label", {"text": "fresh or reused"}),
            )
            if field in self._fields
        }
        fields = {name: name for name in self._starting}
        if "since" in self._fields:
            fields["since"] = "now"
        if self._maybe(0.15):
            fields["state"] = "running"
        start["create"] = {"Job": fields}
        requires = self._requires()
        if requires:
            start["requires"] = requires
        if self._maybe(0.4):
            start["signal"] = self._signal("Started")
        start["gives"] = self._one_of(({"job_id": "job.id"}, {"job_id": "job.id", "status": "job.state"}, "job.id"))
        if not start["takes"]:
            del start["takes"]
        self._operations["start"] = start

    def _requires(self) -> Data:
        found: Data = {}
        if "toggle" in self._operations and self._maybe(0.6):
            found["closed"] = "box.open"
        if self._maybe(0.3):
            self._limits["most"] = {"default": 2}
            found["full"] = "jobs.filter(j, j.active).size() < limits.most"
        if self._maybe(0.3):
            policy: Data = {"one of": ["loose", "strict"], "default": self._one_of(("loose", "strict", "any"))}
            if policy["default"] != "any" and self._maybe(0.4):
                policy["recommended"] = True
            self._policies["way"] = policy
            found["strictly"] = "policies.way == loose || jobs.size() < 2"
        return found

    def _moves(self) -> None:
        names = [name for name in MOVES if self._maybe(0.5)]
        names += [] if {"stop", "end"} & {*names} else ["stop"]
        for name in names:
            takes, move = MOVES[name]
            if "Outcome" in takes.values():
                self._types["Outcome"] = {"one of": ["completed", "failed"], "of": "Job.state"}
            operation: Data = {"takes": dict(takes), "move": move}
            otherwise = self._one_of(OTHERWISE)
            if otherwise is not None:
                operation["otherwise"] = otherwise
                if isinstance(otherwise, dict):
                    self._signals["Woken"] = {}
            if "flag" in self._fields and self._maybe(0.2):
                operation["requires"] = {"flagged": "(!job.flag)"}
            if changes := self._changes():
                operation["set"] = changes
            if self._maybe(0.4):
                operation["signal"] = self._signal(self._one_of(("Moved", "Over")))
            if self._maybe(0.3):
                operation["gives"] = self._one_of(("job", "job.state", {"was_kept": "jobs.size()"}))
            self._operations[name] = operation
        if not {"begin", "end"} & {*names} and "finish" in names:
            self._operations["begin"] = {"takes": {"job": "Job"}, "move": "waiting -> running"}

    def _changes(self) -> Data:
        found: Data = {}
        if "count" in self._fields and self._maybe(0.5):
            found["job.count"] = "job.count + 1"
        if "flag" in self._fields and self._maybe(0.3):
            found["job.flag"] = {"when": "job.state == waiting", "to": "true"}
        if self._maybe(0.2):
            self._variables["total"] = {"type": "int", "default": 0}
            found["total"] = "total + 1"
        return found

    def _looks(self) -> None:
        self._operations["inspect"] = {"takes": {"job": "Job"}, "gives": "job"}
        if self._maybe(0.7):
            self._operations["list_all"] = {"gives": self._one_of(LISTS)}
        if "total" in self._variables or self._maybe(0.2):
            self._variables.setdefault("total", {"type": "int", "default": 0})
            self._operations["look"] = {"gives": {"total": "total", "size": "jobs.size()"}}

    def _should(self) -> list[str]:
        """Draw a clause or two that are only recommended."""
        known = [
            f"operations.{name}.{word}"
            for name, operation in self._operations.items()
            for word in ("signal", "set", "requires", "move", "refuses")
            if word in operation and (word != "move" or isinstance(operation["move"], str))
        ]
        return sorted(self._chooser.sample(known, min(len(known), 2))) if self._maybe(0.35) else []

    # ── Rows ──

    def _rows(self) -> Data:
        values = {"kind": "small", "note": "'x'", "label": "fresh", "box": BOXES[0]}
        start = f"start({', '.join(values[name] for name in self._starting)})"
        is_id = self._operations["start"]["gives"] == "job.id"
        job = "job" if is_id else "job.job_id"
        first = "running" if "state" in self._operations["start"]["create"]["Job"] else "waiting"
        alone = "on its own" not in self.data
        shared = {"level": "must", "source": "the generator"}
        rows: Data = {
            "N1": {
                "about": "A job that was started is there.",
                **shared,
                "covers": ["operations.start.create", "operations.inspect.gives"],
                "act": [f"job = {start}", f"seen = inspect({job})"],
                "assert": f"seen.status == {first}" if alone else "seen.refused == null",
            }
        }
        ends = "stop" if "stop" in self._operations else "end"
        needs = [f"limits.{name} > 0" for name in ("most", "patience") if name in self._limits]
        if needs:
            rows["N1"]["needs"] = list(needs)
        if self._maybe(0.7):
            called = f"together({ends}({job}), {ends}({job}))" if self._maybe(0.3) else f"{ends}({job})"
            rows["E1"] = {
                "about": "What has ended is over.",
                **shared,
                "covers": [f"operations.{ends}"],
                "arrange": [f"job = {start}"],
                "act": [f"seen = {called}", f"again = {ends}({job})"],
                "assert": ["true"],
            }
            if needs := [*needs, *(["concurrency"] if "together" in called else [])]:
                rows["E1"]["needs"] = needs
        return rows


class _Dumper(yaml.SafeDumper):
    """Writes every value out: the language has no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def data_of(number: int) -> Data:
    """The spec of a number, as data."""
    return Author(number).data


def text_of(data: Data) -> str:
    """A spec as YAML."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=2**16)

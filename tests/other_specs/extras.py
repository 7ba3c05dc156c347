"""Parts of the language that a small random spec may have beside jobs that start, move and are looked at."""

from __future__ import annotations

from tests.other_specs.drawing import Data, Drawing


class Extras(Drawing):
    """Draws what most specs lack, each by a method of its own."""

    def _batch(self) -> None:
        self._types["JobId"] = {"id of": "Job", "or": "fresh"}
        effects = self._one_of(({"move": {"waiting": "failed", "running": "running"}}, {"signal": {}}))
        if "signal" in effects:
            self._signals["Picked"] = {"job": "JobId"}
            effects = {"signal": {"Picked": {"with": {"job": "j.id"}}}}
        if "flag" in self._fields:
            effects = {"set": {"j.flag": "true"}}
        self._operations["pick"] = {
            "takes": {"chosen": {"list of": "JobId"}},
            "for each": {"j": {"in": "jobs", "when": "j.active && j.id in chosen", **effects}},
        }

    def _marks(self) -> None:
        self._variables["marked"] = {"type": "bool", "default": "false"}
        self._operations["mark"] = {"set": {"marked": "(!marked)"}, "gives": "marked"}
        if self._maybe(0.5):
            self._operations["mark"]["open"] = {"busy": "jobs.exists(j, j.active)"}
        elif self._maybe(0.5):
            self._operations["mark"]["unsaid"] = "jobs.size() > 2"
        self._operations["marked_now"] = {"gives": "marked"}

    def _refusals(self) -> None:
        self._operations["revive"] = {"takes": {"job": "Job"}, "refuses": "not_supported"}

    def _messages(self) -> None:
        self._types["JobId"] = {"id of": "Job", "or": "fresh"}
        ended: Data = {"about": "Job", "due": self._one_of(("terminal", ["completed"])), "at most": "once per job"}
        if self._maybe(0.6):
            ended["order"] = "job.completion"
        if self._maybe(0.6):
            ended["outlives"] = "eviction"
        ended["carries"] = {"job_id": "job.id", "status": "job.state"}
        self.data["messages"] = {"Ended": ended}
        self._operations["tell"] = {"sends": {"told": "due.Ended"}, "gives": "told"}

    def _removal(self) -> None:
        due = ["due.Ended"] if "messages" in self.data and self._maybe(0.5) else []
        self._operations["clear"] = {"remove": ["Job", *due]}

    def _own_steps(self) -> None:
        step: Data = {"for each": {"job": "Job"}, "when": "job.state == waiting", "move": "waiting -> running"}
        if self._maybe(0.5):
            step["must"] = "jobs.size() > 2"
        if self._maybe(0.6):
            step["signal"] = self._signal("Begun")
        self.data.setdefault("on its own", {})["go_on"] = step

    def _waiting(self) -> None:
        """Draw a call that waits for the end of a job."""
        outcome: Data = {"takes": {"job": "Job"}, "waits": {"until": "job.terminal"}, "gives": "job.state"}
        if "marked" in self._variables:
            outcome["requires"] = {"marked": "(!marked)"}
        self._operations["outcome"] = outcome

    def _pages(self) -> None:
        """Draw a list in pages, whose cursors stand for places."""
        self._limits["page"] = {"default": self._one_of((1, 2))}
        self._types["Cursor"] = {"id of": "Page", "or": "fresh"}
        self._entities["Page"] = {"id": self._one_of(("minted", "minted by content")), "fields": {"after": "int"}}
        self._operations["page"] = {
            "takes": {"cursor": {"type": "Cursor | null", "default": "null"}},
            "requires": {"no_such_cursor": "cursor == null || pages.exists(p, p.id == cursor)"},
            "reads": {
                "rest": "jobs.filter(j, pages.all(p, p.id != cursor || j.serial > p.after)).sortBy(j, j.serial)",
                "told": "rest.take(limits.page)",
            },
            "create": {
                "Page": {
                    "when": "told != [] && rest.size() > told.size()",
                    "after": "told[told.size() - 1].serial",
                }
            },
            "gives": {"jobs": "told.map(j, j.id)", "next": "if page == null then null else page.id"},
        }

    def _notices(self) -> None:
        """Draw what may be told at any time, and whole."""
        self._types["JobId"] = {"id of": "Job", "or": "fresh"}
        self._signals["Notice"] = {"job": "JobId", "status": "Job.state"}
        told = {"Notice": {"with": {"job": "job.id", "status": "job.state"}}}
        step = {"for each": {"job": "Job"}, "when": "job.terminal", "may signal": told}
        self.data.setdefault("on its own", {})["notice"] = step

    def _deletions(self) -> None:
        """Draw that a job may be deleted some time after it ended."""
        if "ended_at" not in self._fields:
            return
        late = "job.ended_at != null && now >= job.ended_at + 50"
        step = {"for each": {"job": "Job"}, "when": f"job.terminal && {late}", "remove": "job"}
        self.data.setdefault("on its own", {})["delete"] = step

    def _choices(self) -> None:
        """Draw a reply of which the system may choose, and one that depends on a condition."""
        ends = "if jobs.exists(j, j.active) then 1 else 0"
        self._operations["guess"] = {
            "gives": self._one_of(({"any of": ["0", ends]}, {"busy": ends, "text": "such_as('x')"}))
        }
        self._operations["find"] = {
            "takes": {"job": "Job | null"},
            "gives": {"first of": [{"when": "job == null", "reply": "null"}, {"reply": "job.state"}]},
        }

    def _levels(self) -> None:
        """Draw that operations may be lacking or belong to whoever tests, and which part of the system has which."""
        looks = [name for name in ("list_all", "look", "weigh", "parts_of", "marked_now") if name in self._operations]
        for name in looks:
            if self._maybe(0.3):
                self._operations[name][self._one_of(("optional", "control"))] = True
        if looks and self._maybe(0.5):
            first = [name for name in self._operations if name not in looks]
            self.data["parts"] = {"core": first, "window": looks}

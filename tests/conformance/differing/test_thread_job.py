"""Small edits of thread-job, one each: what becomes of systems, and whether calls show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.differing import Grade, Spec, SpecDiff, differing
from statemachines.compile import compile_tree, spec_tree
from statemachines.specs import spec_path
from statemachines.yaml import Mapping

RULES = spec_path("thread-job").read_text(encoding="utf-8").partition("\nmatrix:")[0]

Edit = tuple[str, str]
EDITS: list[tuple[str, list[Edit], Grade, bool]] = [
    (
        "a guard that is new",
        [
            (
                "    move:      active -> same\n    otherwise: unchanged\n\n  llm_error",
                "    requires:\n      too_early: now > 0\n    move:      active -> same\n    otherwise: unchanged\n\n  llm_error",
            )
        ],
        "breaking",
        True,
    ),
    (
        "a guard that is laxer",
        [("    move:      running -> pending_cancel", "    move:      active -> pending_cancel")],
        "breaking",
        True,
    ),
    ("the default of a limit", [("{default: 20, ", "{default: 30, ")], "breaking", True),
    ("the default of a limit of texts", [("{default: 25600,", "{default: 25601,")], "breaking", True),
    (
        "a limit that may be null",
        [
            ("limits.max_bytes, limits.max_lines)", "limits.max_bytes, limits.max_lines)"),
            (
                "bytes of a text that is still told inline}",
                "bytes of a text that is still told inline, optional: true}",
            ),
        ],
        "loosening",
        False,
    ),
    (
        "the order of messages",
        [("    order:    [job.completed_at, tie]", "    order:    [job.started_at, tie]")],
        "breaking",
        True,
    ),
    (
        "how ties end",
        [
            (
                "    keys:    {completion: job.completion, start: job.serial, id: job.id}",
                "    keys:    {completion: (-job.completion), start: job.serial, id: job.id}",
            )
        ],
        "breaking",
        True,
    ),
    ("retention for all threads together", [("per: job.thread, by", "by")], "breaking", True),
    ("one record more stays", [("newest: limits.retained", "newest: limits.retained + 1")], "breaking", True),
    ("told as often as due", [("    at most:  once per job\n", "")], "same", False),
    (
        "private to nobody",
        [("    private to: thread                     # seen from another thread it does not exist\n", "")],
        "breaking",
        True,
    ),
    (
        "a message that dies with its record",
        [
            (
                "    outlives: eviction                     # a message owed stays owed when retention drops its job\n",
                "",
            ),
            ("  - messages.Ended.outlives\n", ""),
        ],
        "tightening",
        True,
    ),
    (
        "a signal that may come",
        [
            (
                "    signal:\n      CancelSent: {with: {job_id: job.id}}\n",
                "    may signal:\n      CancelSent: {with: {job_id: job.id}}\n",
            )
        ],
        "loosening",
        True,
    ),
    (
        "a signal that has to come",
        [
            (
                "    may signal:\n      TurnTriggered: {when: told.size() > 0, with: {thread: thread}}\n",
                "    signal:\n      TurnTriggered: {when: told.size() > 0, with: {thread: thread}}\n",
            )
        ],
        "tightening",
        True,
    ),
    (
        "a signal that comes once",
        [("with: {thread: thread}, times: at least once}", "with: {thread: thread}}")],
        "tightening",
        True,
    ),
    (
        "an operation that may be lacking",
        [("  report_progress:\n", "  report_progress:\n    optional: true\n")],
        "loosening",
        False,
    ),
    (
        "an operation that may not be lacking",
        [
            (
                "    optional: true\n    takes:    {thread: Thread, tool_call: ToolCall, tool: Tool, job_id: JobId}",
                "    takes:    {thread: Thread, tool_call: ToolCall, tool: Tool, job_id: JobId}",
            )
        ],
        "tightening",
        False,
    ),
    (
        "otherwise: from unchanged to refused",
        [
            (
                "    otherwise: unchanged                   # refused",
                "    otherwise: refused too_late            # refused",
            )
        ],
        "tightening",
        True,
    ),
    (
        "otherwise: from unchanged to carried out or not",
        [
            (
                "    otherwise: unchanged                   # refused",
                "    otherwise: open                        # refused",
            )
        ],
        "breaking",
        True,
    ),
    (
        "missing: from refused to unchanged",
        [("    missing: refused not_found             # for", "    missing: unchanged                     # for")],
        "loosening",
        True,
    ),
    (
        "missing: another code",
        [("    missing: refused not_found             # for", "    missing: refused no_such_job           # for")],
        "breaking",
        True,
    ),
    (
        "open: no more",
        [
            (
                "    open:   {already_resolved: job_is_gone(tool_call)}\n    create:\n      Call: {tool_call: tool_call, mode: background}",
                "    create:\n      Call: {tool_call: tool_call, mode: background}",
            )
        ],
        "tightening",
        True,
    ),
    (
        "what is not said any more",
        [
            (
                "    about:     The tool says something before it ends.\n",
                "    about:     The tool says something before it ends.\n    unsaid:    job.state == pending_cancel\n",
            )
        ],
        "loosening",
        True,
    ),
    (
        "a reply with another state",
        [
            (
                "    gives:  {mode: background, job_id: job.id, status: job.state}\n\n  start_as",
                "    gives:  {mode: background, job_id: job.id, status: null}\n\n  start_as",
            )
        ],
        "breaking",
        True,
    ),
    (
        "a level that falls",
        [("  - messages.Ended.carries.tool\n", "  - messages.Ended.carries.tool\n  - messages.Ended.order\n")],
        "loosening",
        True,
    ),
    ("a level that rises", [("  - messages.Ended.outlives\n", "")], "tightening", True),
    ("a choice that is new", [("[not_found, its_own]", "[not_found, its_own, silence]")], "loosening", False),
    ("a choice that is gone", [("start: job.serial, id", "id")], "tightening", True),
    (
        "an operation that is new",
        [("  retry_job:\n", "  forget_job:\n    takes: {thread: Thread}\n    remove: [Job]\n\n  retry_job:\n")],
        "breaking",
        False,
    ),
    (
        "a new operation that is optional",
        [
            (
                "  retry_job:\n",
                "  forget_job:\n    optional: true\n    takes: {thread: Thread}\n    remove: [Job]\n\n  retry_job:\n",
            )
        ],
        "loosening",
        False,
    ),
    (
        "a step of its own that may not be taken any more",
        [("    must:     thread.boundary_requested    #", "    must:     thread.idle                  #")],
        "tightening",
        True,
    ),
    (
        "only words",
        [("about:   Who is first when two jobs end at one instant.", "about: Which of two jobs comes first.")],
        "same",
        False,
    ),
]


def spec(text: str, name: str) -> Spec:
    file = Path(name)
    file.write_text(text, encoding="utf-8")
    tree = spec_tree(name)
    assert isinstance(tree, Mapping)
    return Spec(name, tree, compile_tree(tree, name))


def edited(edits: list[Edit]) -> SpecDiff:
    text = RULES
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return differing(spec(RULES, "old.yaml"), spec(text, "new.yaml"))


@pytest.mark.thorough
@pytest.mark.parametrize(("edits", "grade", "shown"), [each[1:] for each in EDITS], ids=[each[0] for each in EDITS])
def test_what_becomes_of_systems(
    edits: list[Edit], grade: Grade, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = edited(edits)
    assert found.grade == grade
    shows = {each.direction for each in found.together.witnesses if each.level == found.together.level}
    wanted = {"breaking": {"less", "more"}, "tightening": {"less"}, "loosening": {"more"}, "same": set()}[grade]
    assert shows == (wanted if shown else set())

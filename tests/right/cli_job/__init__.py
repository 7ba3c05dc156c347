"""Right cli-job implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.cli_job.history import HistoryJobs, PromptJobs

RIGHT: list[type] = [HistoryJobs, PromptJobs]

__all__ = ["RIGHT", "HistoryJobs", "PromptJobs"]

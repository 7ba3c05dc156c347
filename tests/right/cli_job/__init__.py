"""Right cli-job implementations of different construction: whoever accuses one of them is wrong."""

from tests.right.cli_job.history import FirstIsPrompt, HistoryJobs, PromptJobs

RIGHT: list[type] = [HistoryJobs, PromptJobs, FirstIsPrompt]

__all__ = ["RIGHT", "FirstIsPrompt", "HistoryJobs", "PromptJobs"]

"""How the tool shows jobs to its caller, in text and in details; the upper layer of the records of `job`."""

from __future__ import annotations

from conformance.references.job_clock import now
from conformance.references.job_delivery import Reply
from conformance.references.job_records import JobRecord, JobRecords, Replies


class JobReplies(JobRecords):
    """Job records that can be shown: a reply has one text, details of jobs, and outcomes of cancels."""

    def _answer(self, jobs: list[JobRecord], outcomes: Replies | None) -> Reply:
        return {
            "text": self._text(jobs, outcomes or []),
            "jobs": [self._detail(job) for job in jobs],
            "cancelled": outcomes,
        }

    def _text(self, jobs: list[JobRecord], outcomes: Replies) -> str:
        ended = [job for job in jobs if job.status != "running"]
        running = [job for job in jobs if job.status == "running"]
        sections = {
            "Cancelled": [f"- {each['id']}: {each['status']}" for each in outcomes],
            "Completed": [self._ended_line(job) for job in ended],
            "Still Running": [f"- {job.job_id} [{job.type}] {job.label}" for job in running],
        }
        blocks = ["\n".join([f"## {name} ({len(lines)})", *lines]) for name, lines in sections.items() if lines]
        return "\n\n".join(blocks) or "No background jobs."

    def _ended_line(self, job: JobRecord) -> str:
        texts = [text for text in (job.result_text, job.error_text) if text]
        return "\n".join([f"- {job.job_id} [{job.type}] {job.label}: {job.status}", *texts])

    def _detail(self, job: JobRecord) -> Reply:
        """One job as shown by the tool; texts are absent when empty."""
        ended = now() if job.ended_at is None else job.ended_at
        shown: Reply = {
            "id": job.job_id,
            "type": job.type,
            "status": job.status,
            "label": job.label,
            "durationMs": ended - job.started_at,
        }
        texts = {"resultText": job.result_text, "errorText": job.error_text}
        return shown | {name: text for name, text in texts.items() if text}

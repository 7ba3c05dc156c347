"""Lies about content: what is told inline, what goes to a file, and what the file holds."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from conformance.references.thread_job import Reply, ThreadJob
from tests.faulty.thread_job.lie import Lie


class FileTruncated(Lie):
    """The file of an oversize payload is cut off at the limits."""

    row, calls = "N7", 3

    def _spill(self, text: str) -> str:
        lines = "\n".join(text.split("\n")[: self._max_lines])
        return super()._spill(lines.encode()[: self._max_bytes].decode(errors="ignore"))


class FileEndsWithBreak(Lie):
    """The file of an oversize payload ends with a line break that the text has not."""

    row, calls = "N7", 3

    def _spill(self, text: str) -> str:
        return super()._spill(text + "\n")


class FileIsGone(Lie):
    """The file of an oversize payload is deleted before anybody can read it."""

    row, calls = "N7", 3

    def _spill(self, text: str) -> str:
        path = super()._spill(text)
        Path(path).unlink()
        return path


class OversizeToldInline(Lie):
    """An oversize payload is told whole, without a file."""

    row, calls = "N7", 3

    def _fits(self, text: str) -> bool:
        return True


class TextBesideFile(Lie):
    """An oversize payload is told whole, and in a file as well."""

    row, calls = "N7", 3

    def _content(self, text: str) -> Reply:
        return {"text": text, **super()._content(text)}


class PreviewIsWhole(Lie):
    """The preview beside the file of an oversize payload is the whole text."""

    row, calls = "N7", 3

    def _content(self, text: str) -> Reply:
        content = super()._content(text)
        return {**content, "preview": text} if "file" in content else content


class OversizeToldWithoutReference(Lie):
    """The message of an oversize payload says that there is a file, but not which."""

    row, calls = "N7", 3

    def _content(self, text: str) -> Reply:
        content = super()._content(text)
        return content if "text" in content else {"text": "Terminal payload exceeded output limits."}


class BytesExclusive(Lie):
    """A payload of exactly the allowed bytes goes to a file."""

    row, calls = "E10", 3

    def _fits(self, text: str) -> bool:
        return self._bytes(text) < self._max_bytes and self._lines(text) <= self._max_lines


class OneByteTooMany(Lie):
    """A payload of one byte more than allowed is told inline."""

    row, calls = "E10", 3

    def _bytes(self, text: str) -> int:
        return super()._bytes(text) - 1


class OneLineTooMany(Lie):
    """Line breaks are counted instead of lines: one line more than allowed is told inline."""

    row, calls = "E10", 3

    def _lines(self, text: str) -> int:
        return text.count("\n")


class FileOnlyBeyondBothLimits(Lie):
    """A payload goes to a file only when it is beyond both limits."""

    row, calls = "E10", 3

    def _fits(self, text: str) -> bool:
        return self._bytes(text) <= self._max_bytes or self._lines(text) <= self._max_lines


class LinesExclusive(Lie):
    """A payload of exactly the allowed lines goes to a file."""

    row, calls = "E10", 3

    def _fits(self, text: str) -> bool:
        return self._bytes(text) <= self._max_bytes and self._lines(text) < self._max_lines


class CharactersCounted(Lie):
    """Characters are counted instead of bytes: a long text of long characters is told inline."""

    row, calls = "B5", 3

    def _bytes(self, text: str) -> int:
        return len(text)


class CharactersReplacedInFile(Lie):
    """The file of an oversize payload has a question mark for every character beyond ASCII."""

    row, calls = "B5", 3

    def _spill(self, text: str) -> str:
        return super()._spill(text.encode("ascii", "replace").decode())


class OneFileForAll(Lie):
    """All oversize payloads go to one file, each over the one before."""

    row, calls = "B4", 5

    def _spill_path(self) -> Path:
        return self._private_directory() / "payload.txt"


class InlineResultIsTrimmed(Lie):
    """The result of a call that completes inline loses its outer blanks."""

    row, calls = "X35", 1

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        return {**super().complete_inline(thread, tool_call, tool, result), "result": result.strip()}


class FileIsTidied(Lie):
    """A text in a file has its ends of lines made alike."""

    row, calls = "X35", 3

    def _spill(self, text: str) -> str:
        return super()._spill(text.replace("\r\n", "\n"))


class InlineResultIsAscii(Lie):
    """Signs beyond ASCII in a result that is given inline become question marks."""

    row, calls = "X55", 1

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        reply = super().complete_inline(thread, tool_call, tool, result)
        return {**reply, "result": result.encode("ascii", "replace").decode()}


class EmptyInlineResultIsNull(Lie):
    """An empty result that is given inline is none at all."""

    row, calls = "X55", 1

    def complete_inline(self, thread: str, tool_call: str, tool: str, result: str) -> Reply:
        return {**super().complete_inline(thread, tool_call, tool, result), "result": result or None}


class TextIsComposed(Lie):
    """A letter and the accent that follows it are told as one sign."""

    row, calls = "X55", 3

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        super()._complete(job, outcome, payload)
        job.payload = unicodedata.normalize("NFC", job.payload)


class EmptyFailureGetsText(Lie):
    """A failure without a text is told as the word failed."""

    row, calls = "X56", 3

    def _complete(self, job: ThreadJob, outcome: str, payload: object) -> None:
        super()._complete(job, outcome, payload or ("failed" if outcome == "failed" else ""))

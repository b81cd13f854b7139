"""What can go wrong, as one tree of exceptions.

::

    LissomError
    ├── ModelError        a model says something wrong, or describes no mechanism
    ├── SimulationError   a run or a study has no answer
    └── SweepError        an executor broke in the middle of many runs
    Interrupted           Ctrl-C during a long call; a KeyboardInterrupt
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lissom.recording import Recording

__all__ = ["Interrupted", "LissomError", "ModelError", "Problem", "SimulationError", "SweepError"]


class LissomError(Exception):
    """Anything that Lissom refuses or fails to do."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a model."""

    message: str
    """What is wrong, with the numbers concerned."""
    path: str | None = None
    """The key of the model, such as ``body[0].rigid.mass_kg``."""
    line: int | None = None
    """The line of the model's text, from one."""
    remedy: str | None = None
    """What to do about it, where the message does not say so itself."""


class ModelError(LissomError):
    """A model that says something wrong. All problems come at once; the attributes are those of the first."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        problems: Iterable[Problem | Mapping[str, Any]] = (),
    ) -> None:
        self.file = file
        """The file of the model, or what its text is called."""
        given = (problem if isinstance(problem, Problem) else Problem(**problem) for problem in problems)
        self.problems = tuple(given) or (Problem(message),)
        """Everything that is wrong, in the order of the text; at least one."""
        first = self.problems[0]
        self.path, self.line, self.remedy = first.path, first.line, first.remedy
        self._message = message
        super().__init__(message)

    def __str__(self) -> str:
        lines = []
        for problem in self.problems:
            place = self.file or "model"
            place += f":{problem.line}" if problem.line is not None else ""
            path = f" `{problem.path}`:" if problem.path else ""
            remedy = f"; {problem.remedy}" if problem.remedy else ""
            lines.append(f"{place}:{path} {problem.message}{remedy}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return _model_error, (self._message, self.file, self.problems)


def _model_error(message: str, file: str | None, problems: tuple[Problem, ...]) -> ModelError:
    return ModelError(message, file=file, problems=problems)


class SimulationError(LissomError):
    """A run or a study that has no answer."""

    def __init__(
        self,
        message: str,
        *,
        time_s: float | None = None,
        coordinate: str | None = None,
        recording: Recording | None = None,
    ) -> None:
        self.time_s = time_s
        """Instant up to which the motion is known, in s."""
        self.coordinate = coordinate
        """The coordinate in trouble."""
        self.recording = recording
        """What was recorded until then, for a run."""
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _simulation_error, (str(self), self.time_s, self.coordinate, self.recording)


def _simulation_error(
    message: str, time_s: float | None, coordinate: str | None, recording: Recording | None
) -> SimulationError:
    return SimulationError(message, time_s=time_s, coordinate=coordinate, recording=recording)


class SweepError(LissomError):
    """An executor that broke in the middle of a sweep."""

    def __init__(self, message: str, *, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self.rows = list(rows)
        """The rows that were there until then."""
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _sweep_error, (str(self), self.rows)


def _sweep_error(message: str, rows: Sequence[Mapping[str, Any]]) -> SweepError:
    return SweepError(message, rows=rows)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a long call."""

    def __init__(
        self,
        message: str = "interrupted",
        *,
        recording: Recording | None = None,
        rows: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.recording = recording
        """What was recorded until then, for a run."""
        self.rows = list(rows)
        """The rows that were there until then, for a sweep."""
        super().__init__(message)

"""Names that callers give."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["components", "listed", "meant", "place", "refuse_unknown"]


def listed(what: str, names: Sequence[str] | None) -> list[str] | None:
    """Names as a list; a text would be a list of its letters."""
    if isinstance(names, str):
        raise TypeError(f"{what} is the text {names!r}, expected a list of names: [{names!r}]")
    return None if names is None else list(names)


def components(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Names, with the components of vectors and quaternions in their place."""
    all_names = set(known)
    found: list[str] = []
    for name in names:
        parts = [f"{name}.{part}" for part in ("w", "x", "y", "z") if f"{name}.{part}" in all_names]
        found += [name] if name in all_names or not parts else parts
    return found


def meant(name: str, known: Iterable[str]) -> str:
    """A question after the name that somebody may have meant, if one is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def place(kind: str, name: str, known: Sequence[str]) -> int:
    """Where a name stands; refuses one that is not there, with what may have been meant or all that there are."""
    if name in known:
        return list(known).index(name)
    there = f"; there are {', '.join(dict.fromkeys(known)) or 'none'}"
    raise ValueError(f"there is no {kind} {name!r}{meant(name, known) or there}")


def refuse_unknown(channels: Sequence[str], known: Iterable[str]) -> None:
    """Refuse beginnings that no channel has."""
    names = list(known)
    unknown = [start for start in channels if not any(name.startswith(start) for name in names)]
    if unknown:
        raise ValueError(f"no channel begins with {', '.join(map(repr, unknown))}; mechanism.channels has all")

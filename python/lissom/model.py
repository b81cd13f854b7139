"""Models: what somebody wrote, as a file, a text or plain dictionaries."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lissom import _native
from lissom._names import place
from lissom.mechanism import Mechanism

if TYPE_CHECKING:
    from lissom import spec
    from lissom.bodies import ReducedBody

__all__ = ["Model", "load", "shipped", "shipped_models"]


class Model:
    """A model that has been read and can be built. It never changes; :meth:`replace` gives another one.

    It holds the content of all files that the model names, so that it can be pickled and sent anywhere.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Model) -> None:
        if not isinstance(native, _native.Model):
            raise TypeError("lissom.load reads a model from a file, Model.from_text from a text, Model.from_dict from dictionaries")
        self._native = native

    @classmethod
    def from_text(cls, text: str, *, name: str = "model") -> Model:
        """The model that a text in TOML describes. Files it names are looked for in the current folder."""
        return cls(_native.Model.from_text(name, text, []))

    @classmethod
    def from_dict(cls, model: Mapping[str, Any] | spec.Model, *, name: str = "model") -> Model:
        """The model that a dictionary describes, with the keys of the file format, or dataclasses of ``lissom.spec`` do.

        >>> import lissom
        >>> model = lissom.shipped("two-link-arm")
        >>> lissom.Model.from_dict(model.to_dict()) == model
        True
        """
        return cls.from_text(_document(model), name=name)

    def replace(self, changes: Mapping[str, Any]) -> Model:
        """The model with other values, by the same paths as ``--set``.

        >>> import lissom
        >>> lissom.shipped("two-link-arm").replace({"payload.gripper.mass_kg": 0.6}).name
        'two-link flexible arm'
        """
        return Model(_native.Model.from_text(self.label, self.toml, _texts(changes)))

    def build(self) -> Mechanism:
        """The mechanism that the model describes."""
        return Mechanism(self._native)

    def check(self) -> dict[str, Any]:
        """Summary of the model: bodies with their masses and frequencies (rad/s), degrees of freedom, loops, and
        ``warnings`` of what may go wrong, as ``lissom check --json`` tells it.

        >>> import lissom
        >>> lissom.shipped("two-link-arm").check()["degrees_of_freedom"]["elastic"]
        6
        """
        found: dict[str, Any] = json.loads(self._native.summary())
        return found

    def body(self, name: str) -> ReducedBody:
        """Summary of a body that was reduced from a mesh, a frame of beams, matrices or a body file, as ``lissom body`` tells
        it; :meth:`check` tells of the others.

        >>> import lissom
        >>> lissom.shipped("frame-arm").body("upper_arm").stiffens
        True
        """
        from lissom.bodies import ReducedBody

        return ReducedBody(_native.Body.of(self._native, name))

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._native.name

    @property
    def label(self) -> str:
        """A short name: that of its file without the ending, or that of a shipped model."""
        return self._native.label

    @property
    def toml(self) -> str:
        """The model as one text, with the content of the files it names."""
        return self._native.toml

    def to_dict(self) -> dict[str, Any]:
        """The model as plain dictionaries and lists."""
        found: dict[str, Any] = _without_none(json.loads(self._native.json()))
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.toml == other.toml

    def __hash__(self) -> int:
        return hash(self.toml)

    def __repr__(self) -> str:
        return f"<lissom.Model {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.label, self.toml)


def _restored(label: str, toml: str) -> Model:
    return Model(_native.Model.from_text(label, toml, []))


def load(path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Model:
    """Read a model file with the files it names; ``changes`` are values by path, as ``--set`` takes them.

    Raises :class:`lissom.ModelError` with all problems, their lines and remedies.
    """
    return Model(_native.Model.load(os.fspath(path), _texts(changes)))


def shipped(name: str, changes: Mapping[str, Any] | None = None) -> Model:
    """A model that comes with Lissom, by its name; :func:`shipped_models` lists them."""
    place("shipped model", name, list(shipped_models()))
    return Model(_native.Model.shipped(name, _texts(changes)))


def shipped_models() -> dict[str, str]:
    """Names of the models that come with Lissom, and what each is."""
    return dict(_native.shipped_models())


def _texts(changes: Mapping[str, Any] | None) -> list[str]:
    """Values by path as ``--set`` takes them."""
    if changes is not None and not isinstance(changes, Mapping):
        raise TypeError(f"changes are {changes!r}, expected values by path, as in {{'payload.gripper.mass_kg': 0.6}}")
    return [f"{path}={_toml(value)}" for path, value in (changes or {}).items()]


def _fields(value: Any) -> Any:
    """What a dataclass of ``lissom.spec`` holds; keys that are words of Python end with an underscore there."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = dataclasses.fields(value)
        return {field.name.rstrip("_"): getattr(value, field.name) for field in own}
    return value


def _document(model: Any) -> str:
    model = _fields(model)
    if not isinstance(model, Mapping):
        raise TypeError(f"a model is no {type(model).__name__}: give a dictionary or a lissom.spec.Model; from_text takes a text, load a file")
    lines = (f"{_key(key)} = {_toml(value)}" for key, value in model.items() if value is not None)
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _toml(value: Any) -> str:
    """A value as TOML in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # strings of JSON are strings of TOML but for what JSON leaves as it is
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value))
    value = _fields(value)
    if isinstance(value, Mapping):
        items = (f"{_key(key)} = {_toml(item)}" for key, item in value.items() if item is not None)
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return _toml(value.tolist())
    raise TypeError(f"a model holds no {type(value).__name__}: {value!r}")


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value

"""Writes ``python/lissom/spec.py``: the file format as dataclasses, from its JSON Schema.

    python python/tools/make_spec.py > python/lissom/spec.py

A test compares what this makes with what is committed.
"""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from typing import Any

from lissom import _native

HEAD = '''"""The file format as typed dataclasses, one field per key. Made by ``python/tools/make_spec.py``: do not edit.

>>> import lissom
>>> from lissom import spec
>>> arm = spec.Body(name="arm", rigid=spec.Rigid(mass_kg=1.0, inertia_kg_m2=[0.1, 0.1, 0.1]))
>>> hinge = spec.Joint(name="hinge", parent="ground", child="arm", revolute=spec.Revolute(axis=[0.0, 0.0, 1.0]))
>>> model = lissom.Model.from_dict(spec.Model(format=1, body=[arm], joint=[hinge]))
>>> list(model.build().positions)
['hinge.angle']

What is absent (``None``) is as the documentation of the key says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
'''

SIMPLE = {"number": "float", "integer": "int", "string": "str", "boolean": "bool"}


def class_name(name: str) -> str:
    return name.removesuffix("Spec")


def field_name(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key


def type_of(schema: dict[str, Any]) -> str:
    """The type of a value; what may be null may be absent, which is said elsewhere."""
    if "$ref" in schema:
        return class_name(schema["$ref"].rsplit("/", 1)[1])
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(one) for one in schema['enum'] if one is not None)}]"
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            parts = [type_of(one) for one in schema[union] if one.get("type") != "null"]
            return " | ".join(dict.fromkeys(parts))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    (kind,) = [one for one in kinds if one != "null"]
    if kind == "array":
        return f"Sequence[{type_of(schema['items'])}]"
    if kind == "object":
        return f"Mapping[str, {type_of(schema['additionalProperties'])}]"
    return SIMPLE[kind]


def documented(schema: dict[str, Any], indent: str) -> str:
    text = schema.get("description", "").replace("[`", "`").replace("`]", "`").replace("\\", "\\\\")
    text = re.sub(r"`(\w+)Spec`", r"`\1`", text)
    lines = textwrap.wrap(" ".join(text.split()), 120 - len(indent) - 6) or [""]
    return f'{indent}"""' + f"\n{indent}".join(lines) + '"""'


def dataclass(name: str, schema: dict[str, Any]) -> str:
    lines = ["@dataclass(kw_only=True)", f"class {name}:", documented(schema, "    ")]
    for key, value in schema.get("properties", {}).items():
        needed = key in schema.get("required", [])
        kind = type_of(value)
        lines.append("")
        lines.append(f"    {field_name(key)}: {kind}" if needed else f"    {field_name(key)}: {kind} | None = None")
        if "description" in value:
            lines.append(documented(value, "    "))
    return "\n".join(lines)


def choice(name: str, schema: dict[str, Any]) -> str:
    """Words and tables with a single key, of which one is chosen."""
    parts, words, classes = [], [], []
    for one in schema.get("oneOf") or schema["anyOf"]:
        if "const" in one:
            words.append(one["const"])
        elif one.get("type") == "object":
            (key,) = one["properties"]
            own = name + "".join(part.capitalize() for part in key.split("_"))
            classes.append(dataclass(own, one))
            parts.append(own)
        else:
            parts.append(type_of(one))
    if words:
        parts.insert(0, f"Literal[{', '.join(repr(word) for word in words)}]")
    alias = " | ".join(parts)
    classes.append(f'{name}: TypeAlias = "{alias}"\n' + documented(schema, ""))
    return "\n\n\n".join(classes)


def made() -> str:
    schema = json.loads(_native.json_schema())
    parts = [HEAD.rstrip()]
    for name, own in schema["$defs"].items():
        made = dataclass if own.get("type") == "object" else choice
        parts.append(made(class_name(name), own))
    parts.append(dataclass("Model", schema))
    return "\n\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(made(), end="")

#!/usr/bin/env python3
"""Checks that everything Lissom is built from has a licence that suits it.

Rust packages are those of Cargo.lock, as `cargo metadata` knows them without a network; npm packages those of viewer/package-lock.json,
and of viewer/node_modules where they are installed. Ends with status 1 and one line per package that does not suit.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]

# Licences that ask for a notice at most: their code may be part of the program and of its pages.
PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}

# Besides, licences of tools that build the page and leave nothing of themselves in it.
TOOLS = PERMISSIVE | {"MPL-2.0"}

# npm packages whose code stands in the page.
IN_THE_PAGE = {"three", "uplot"}


def suits(expression, allowed):
    """Whether an SPDX expression can be met by allowed licences alone; the slash of old manifests is an OR."""
    words = re.findall(r"[()]|[^\s()/]+|/", expression)
    at = 0

    def word():
        return words[at] if at < len(words) else None

    def either():
        nonlocal at
        holds = both()
        while word() in ("OR", "/"):
            at += 1
            holds |= both()
        return holds

    def both():
        nonlocal at
        holds = single()
        while word() == "AND":
            at += 1
            holds &= single()
        return holds

    def single():
        nonlocal at
        if word() == "(":
            at += 1
            holds = either()
            if word() != ")":
                raise ValueError(expression)
            at += 1
            return holds
        name = word()
        if name is None or name in ("OR", "AND", "WITH", ")", "/"):
            raise ValueError(expression)
        at += 1
        if word() == "WITH":
            # an exception only adds to what a licence permits
            at += 2
        return name in allowed

    try:
        holds = either()
    except ValueError:
        return False
    return holds and at == len(words)


def rust_packages(folder):
    """Name, version and licence of every package of others, and what was left out."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    left_out = None
    if done.returncode != 0:
        # packages of other platforms are only here if somebody has fetched them
        version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True)
        host = re.search(r"^host: (.*)$", version.stdout, re.MULTILINE).group(1)
        done = subprocess.run([*command, "--filter-platform", host], cwd=folder, capture_output=True, text=True)
        left_out = f"packages of other platforms than {host} are not here and not checked; `cargo fetch` gets them"
    if done.returncode != 0:
        sys.exit(f"cargo metadata failed; build the workspace first\n{done.stderr}")
    packages = json.loads(done.stdout)["packages"]
    return [(p["name"], p["version"], p["license"]) for p in packages if p["source"]], left_out


def npm_packages(viewer):
    """Name, version and licence of every package: what the lock file says, and what an installed package says of itself."""
    lock = json.loads((viewer / "package-lock.json").read_text())
    found = []
    for path, package in lock["packages"].items():
        if not path:
            continue
        name = path.split("node_modules/")[-1]
        manifest = viewer / path / "package.json"
        installed = json.loads(manifest.read_text()).get("license") if manifest.is_file() else None
        for licence in sorted({package.get("license"), installed} - {None}) or [None]:
            found.append((name, package["version"], licence))
    return found


def unsuitable(packages, allowed_for):
    """A line for every package whose licence does not suit."""
    lines = []
    for name, version, licence in packages:
        allowed = allowed_for(name)
        if licence is None:
            lines.append(f"{name} {version} names no licence")
        elif not suits(licence, allowed):
            lines.append(f"{name} {version} has the licence {licence!r}, which is none of {', '.join(sorted(allowed))}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", type=pathlib.Path, default=REPOSITORY)
    folder = parser.parse_args().repository
    rust, left_out = rust_packages(folder)
    npm = npm_packages(folder / "viewer")
    problems = unsuitable(rust, lambda name: PERMISSIVE)
    problems += unsuitable(npm, lambda name: PERMISSIVE if name in IN_THE_PAGE else TOOLS)
    print(f"licences of {len(rust)} Rust and {len(npm)} npm packages")
    if left_out:
        print(left_out)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit("take another package, or, if its licence suits Lissom after all, name it in tools/licences.py")


if __name__ == "__main__":
    main()

"""What the checks of licences and `./audit` say of packages that are made up, and of an index and a database beside them."""

import importlib.util
import json
import pathlib
import subprocess
import sys
from importlib.machinery import SourceFileLoader

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]


def module(name, path):
    """A script of the repository as a module."""
    loader = SourceFileLoader(name, str(REPOSITORY / path))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(made)
    return made


licences = module("licences", "tools/licences.py")


@pytest.mark.parametrize(
    ("expression", "suits"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("MIT/Apache-2.0", True),
        ("MIT AND GPL-2.0-only", False),
        ("(MIT OR GPL-2.0-only) AND Unicode-3.0", True),
        ("MIT OR GPL-2.0-only AND LGPL-2.1-only", True),
        ("(MIT OR GPL-2.0-only) AND LGPL-2.1-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("(MIT", False),
        ("MIT MIT", False),
        ("SEE LICENSE IN license.txt", False),
        ("", False),
    ],
)
def test_expressions_of_licences(expression, suits):
    assert licences.suits(expression, licences.PERMISSIVE) is suits


def test_packages_that_do_not_suit_are_named():
    packages = [("good", "1.0.0", "MIT"), ("bad", "2.0.0", "GPL-3.0-only"), ("silent", "0.1.0", None)]
    lines = licences.unsuitable(packages, lambda name: licences.PERMISSIVE)
    assert len(lines) == 2
    assert lines[0].startswith("bad 2.0.0 has the licence 'GPL-3.0-only'")
    assert lines[1] == "silent 0.1.0 names no licence"


def test_installed_npm_packages_are_asked_too(tmp_path):
    lock = {"packages": {"": {"name": "viewer"}, "node_modules/@a/b": {"version": "1.0.0", "license": "MIT"}}}
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    assert licences.npm_packages(tmp_path) == [("@a/b", "1.0.0", "MIT")]
    installed = tmp_path / "node_modules/@a/b"
    installed.mkdir(parents=True)
    (installed / "package.json").write_text(json.dumps({"license": "GPL-3.0-only"}))
    assert licences.npm_packages(tmp_path) == [("@a/b", "1.0.0", "GPL-3.0-only"), ("@a/b", "1.0.0", "MIT")]


LOCK = """
version = 4

[[package]]
name = "good"
version = "1.2.3"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "old"
version = "0.3.1"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "mine"
version = "0.1.0"
"""

ADVISORY = """```toml
[advisory]
id = "RUSTSEC-2024-{number}"
package = "{package}"
date = "2024-01-01"
{more}

[versions]
patched = {patched}
```

# What is wrong

More of it.
"""


@pytest.fixture
def folder(tmp_path):
    """A lock file, an index and a database without advisories."""
    (tmp_path / "Cargo.lock").write_text(LOCK)
    for name, versions in {"good": ["1.2.3", "1.2.4"], "old": ["0.3.1"]}.items():
        path = tmp_path / "index" / ("3/o/old" if name == "old" else "go/od/good")
        path.parent.mkdir(parents=True)
        lines = [json.dumps({"name": name, "vers": version, "yanked": False}) for version in versions]
        path.write_text("\n".join(lines) + "\n")
    (tmp_path / "db/crates/good").mkdir(parents=True)
    return tmp_path


def advise(folder, number, patched, package="good", more=""):
    """Adds an advisory to the database."""
    path = folder / "db/crates" / package / f"RUSTSEC-2024-{number}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(ADVISORY.format(number=number, package=package, more=more, patched=json.dumps(patched)))


def audit(folder, *more, db=True):
    """Status and text of the script."""
    pytest.importorskip("tomllib")
    index = (folder / "index").as_uri()
    command = [sys.executable, REPOSITORY / "audit", "--lock", folder / "Cargo.lock", "--index", index, *more]
    if db:
        command += ["--db", folder / "db"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_nothing_is_known(folder):
    advise(folder, "0001", [">= 1.2.3"])
    advise(folder, "0002", [], package="another")
    advise(folder, "0003", [], more='withdrawn = "2024-02-02"')
    status, text = audit(folder)
    assert status == 0, text
    assert "yanked versions: 0 of 2 packages" in text
    assert "advisories: 0 vulnerabilities, 0 others, of 2 in" in text


def test_yanked_versions_are_named(folder):
    path = folder / "index/3/o/old"
    path.write_text(path.read_text().replace("false", "true"))
    status, text = audit(folder)
    assert status == 1
    assert "yanked versions: 1 of 2 packages" in text
    assert "  old 0.3.1\n" in text


def test_vulnerabilities_are_named(folder):
    advise(folder, "0007", ["^1.1.9, < 1.2.0", ">= 1.2.4"])
    status, text = audit(folder)
    assert status == 1
    assert "good 1.2.3: RUSTSEC-2024-0007 What is wrong\n" in text


def test_unmaintained_packages_are_named_and_change_no_status(folder):
    advise(folder, "0436", [], package="old", more='informational = "unmaintained"')
    status, text = audit(folder)
    assert status == 0
    assert "old 0.3.1: RUSTSEC-2024-0436 What is wrong (unmaintained)\n" in text


def test_what_cannot_be_asked_is_not_checked(folder):
    status, text = audit(folder, db=False)
    assert status == 2
    assert "advisories: not checked, name a copy" in text
    (folder / "index/3/o/old").unlink()
    status, text = audit(folder)
    assert status == 2
    assert "not checked: old 0.3.1" in text
    status, text = audit(folder, "--index", "http://127.0.0.1:9/")
    assert status == 2
    assert "yanked versions: not checked, the index cannot be reached" in text
    (folder / "db/crates/good").rmdir()
    (folder / "db/crates").rmdir()
    status, text = audit(folder)
    assert status == 2
    assert "no copy of the RustSec database" in text


@pytest.mark.parametrize(
    ("version", "requirement", "meets"),
    [
        ("1.2.3", ">= 1.2.3", True),
        ("1.2.3-alpha.1", ">= 1.2.3", False),
        ("1.2.3-alpha.1", "< 1.2.3", True),
        ("1.10.0", "> 1.9.0", True),
        ("1.2.3", "^1.2", True),
        ("2.0.0", "^1.2", False),
        ("0.3.9", "^0.3.1", True),
        ("0.4.0", "^0.3.1", False),
        ("0.0.4", "^0.0.3", False),
        ("0.9.0", "^0", True),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("1.3.0", ">= 1.0, < 1.3", False),
        ("1.3.0", "*", True),
        ("0.8.0+spec-1.1.0", "= 0.8.0", True),
    ],
)
def test_requirements_of_versions(version, requirement, meets):
    pytest.importorskip("tomllib")
    assert module("audit", "audit").meets(version, requirement) is meets

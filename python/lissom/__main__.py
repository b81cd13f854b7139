"""The command ``lissom``, as ``python -m lissom`` and as the script of the package."""

import sys


def main() -> int:
    """Run the command with the arguments of the process; returns its exit code."""
    from lissom._native import main_with

    return main_with(["lissom", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

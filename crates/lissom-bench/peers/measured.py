"""What every peer measures and prints: CPU time of the integration alone and the samples, a line of JSON for each setting."""

import json

REPEATS = 3


def shortest(run):
    """Runs several times what returns its CPU time in seconds and samples; the shortest time, and the samples of the last run."""
    runs = [run() for _ in range(REPEATS)]
    return min(cpu_s for cpu_s, _ in runs), runs[-1][1]


def tell(program, problem, setting, run):
    """Measures a setting and prints it; a run that fails is told as such."""
    line = {"program": program, "problem": problem, "setting": setting}
    try:
        line["cpu_s"], line["samples"] = shortest(run)
    except Exception as error:  # a peer that fails with a setting is a result too
        line["failed"] = str(error).strip().splitlines()[-1][:120] if str(error).strip() else type(error).__name__
    print(json.dumps(line), flush=True)

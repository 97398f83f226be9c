"""Loading a CSV table: redress beside pyarrow, in one run.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install pyarrow numpy
    cargo build --release -p redress-data --example load
    /tmp/peers/bin/python benches/peers/load.py [--rows 1000000] [--repeat 5]

Every load is a fresh process, the two take turns, and the file is in the page cache for both. Prints the median
seconds of each, their ratio, and the peak memory of each as a multiple of the file.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PYARROW = """
import json, resource, sys, time
import pyarrow, pyarrow.csv
start = time.perf_counter()
table = pyarrow.csv.read_csv(sys.argv[1])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(dict(seconds=seconds, rows=table.num_rows, columns=table.num_columns, peak_bytes=peak)))
"""


def write_table(path, rows):
    """30 columns such as a lender's: 10 whole numbers, 10 numbers, 8 categories, 2 booleans."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    rng = np.random.default_rng(0)
    columns = {}
    for i in range(10):
        columns[f"count_{i}"] = rng.integers(0, 10 ** (1 + i % 6), rows)
    for i in range(10):
        columns[f"amount_{i}"] = np.round(rng.lognormal(8, 1, rows), 2)
    for i in range(8):
        words = np.array([f"category {i} {chr(97 + k)}" for k in range(3 + 4 * i)])
        columns[f"kind_{i}"] = words[rng.integers(0, len(words), rows)]
    for i in range(2):
        columns[f"flag_{i}"] = rng.random(rows) < 0.5
    pyarrow.csv.write_csv(pa.table(columns), path, pyarrow.csv.WriteOptions(quoting_style="none"))


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--loader", default=None, help="the built example `load`")
    parser.add_argument("--file", default=None, help="a CSV file to load instead of a made one")
    arguments = parser.parse_args()
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(os.path.dirname(__file__), "..", "..", "target"))
    loader = arguments.loader or os.path.join(target, "release", "examples", "load")

    with tempfile.TemporaryDirectory() as folder:
        path = arguments.file or os.path.join(folder, "table.csv")
        if arguments.file is None:
            write_table(path, arguments.rows)
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass
        ours, stream, theirs = [], [], []
        for _ in range(arguments.repeat):
            ours.append(run([loader, path]))
            theirs.append(run([sys.executable, "-c", PYARROW, path]))
            stream.append(run([loader, path, "--stream"]))
        assert ours[0]["rows"] == theirs[0]["rows"] == stream[0]["rows"]
        print(f"file: {size / 1e6:.1f} MB, {ours[0]['rows']} rows x {ours[0]['columns']} columns, "
              f"{os.cpu_count()} cores, pyarrow {__import__('pyarrow').__version__}")
        seconds = {}
        for name, runs in (("redress", ours), ("pyarrow", theirs), ("redress --stream", stream)):
            seconds[name] = statistics.median(r["seconds"] for r in runs)
            peak = max(r["peak_bytes"] for r in runs)
            print(f"{name:17} {seconds[name]:.3f} s (median of {len(runs)}; "
                  f"{min(r['seconds'] for r in runs):.3f} to {max(r['seconds'] for r in runs):.3f}), "
                  f"peak {peak / 1e6:.0f} MB = {peak / size:.2f} x the file")
        print(f"redress / pyarrow: {seconds['redress'] / seconds['pyarrow']:.2f}")


main()

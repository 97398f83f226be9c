#!/usr/bin/env bash
# One training step here and in eager PyTorch, in one go, on one thread; prints both and the ratios.
# Needs a python with PyPI's torch: PYTHON=/path/to/python benches/train_step.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
"$python" -c 'import torch' 2>/dev/null || {
    echo "no torch in $python: set PYTHON to a python with PyPI's torch" >&2
    exit 2
}
cargo build --release --quiet -p redress --bench train_step
ours="$(cargo bench --quiet -p redress --bench train_step -- --json | tail -n 1)"
theirs="$("$python" benches/peers/train_step.py)"
"$python" - "$ours" "$theirs" <<'PY'
import json
import sys

ours, theirs = map(json.loads, sys.argv[1:])
print(f"{'step':<22} {'redress µs':>11} {'PyTorch µs':>11} {'ratio':>7}   (torch {theirs['torch']})")
for batch in (15, 256):
    for kind, name in (("plain", "λ = 0"), ("recourse", "λ = 0.8")):
        a, b = ours[f"{kind}_{batch}"], theirs[f"{kind}_{batch}"]
        print(f"{f'batch {batch}, {name}':<22} {a:>11.1f} {b:>11.1f} {b / a:>6.1f}×")
    cost = ours[f"recourse_{batch}"] / ours[f"plain_{batch}"]
    print(f"a λ = 0.8 step costs {cost:.2f} plain steps at batch {batch}")
PY

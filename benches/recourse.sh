#!/usr/bin/env bash
# Recourse for everybody whom a network turns down in `adult`: redress beside jax-relax's VanillaCF, in one run on the
# same network and people; once for a plain network (few have recourse) and once for one trained with λ = 0.8. Prints
# one line of JSON a method; docs/performance.md holds the ratios.
# Sets up a Python environment for jax-relax in the target folder when there is none.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
venv="${REDRESS_PEERS:-$target/peers-recourse}"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check jax-relax fastcore nbdev datasets
fi
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cargo build --quiet --release --workspace --examples
for lambda in 0 0.8; do
    echo "λ = $lambda"
    "$target/release/examples/recourse" "$lambda" "$folder"
    KERAS_BACKEND=jax "$venv/bin/python" benches/peers/recourse.py "$folder" 2>/dev/null
done

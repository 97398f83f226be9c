"""Recourse for everybody whom one network turns down: jax-relax's VanillaCF on the network, people and limits that
`cargo run --release -p redress-data --example recourse FOLDER` wrote to FOLDER.

    KERAS_BACKEND=jax python benches/peers/recourse.py FOLDER [--repeat 3]

Packages: jax-relax fastcore nbdev datasets. Prints one line of JSON: the fastest seconds (compilation not counted: one
run goes before), the share of people with a yes, and the mean standardised L1 distance.
"""

import argparse
import json
import os
import pathlib
import time

os.environ.setdefault("KERAS_BACKEND", "jax")

import jax
import jax.numpy as jnp
import jax.random as jrand
import numpy as np
from relax.methods import VanillaCF
from relax.strategy import VmapStrategy


def read(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    points = np.fromfile(folder / "points.f32", "<f4").reshape(manifest["people"], manifest["width"])
    numbers = np.fromfile(folder / "weights.f32", "<f4")
    layers, at = [], 0
    for inputs, outputs in manifest["layers"]:
        weights = numbers[at : at + inputs * outputs].reshape(inputs, outputs)
        at += inputs * outputs
        layers.append((jnp.array(weights), jnp.array(numbers[at : at + outputs])))
        at += outputs
    return manifest, jnp.array(points), layers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    manifest, points, layers = read(arguments.folder)

    def logit(x):
        for weights, bias in layers[:-1]:
            x = jnp.tanh(x @ weights + bias)
        return x @ layers[-1][0] + layers[-1][1]

    def predict(x):
        return jax.nn.sigmoid(logit(x))

    width = manifest["width"]
    down, up = np.zeros(width, np.float32), np.zeros(width, np.float32)
    least, most = np.full(width, -np.inf, np.float32), np.full(width, np.inf, np.float32)
    for limit in manifest["limits"]:
        column = limit["column"]
        down[column], up[column] = limit["down"], limit["up"]
        least[column], most[column] = limit["min"], limit["max"]

    def constrain(x, cf, hard, **_):
        low = jnp.minimum(x, jnp.maximum(x - down, least))
        high = jnp.maximum(x, jnp.minimum(x + up, most))
        return jnp.clip(cf, low, high)

    method = VanillaCF()
    method.set_apply_constraints_fn(constrain)
    targets = jnp.ones((points.shape[0], 1))
    keys = jrand.split(jrand.PRNGKey(0), points.shape[0])
    seconds = []
    for _ in range(arguments.repeat + 1):
        start = time.perf_counter()
        found = VmapStrategy()(method.generate_cf, points, predict, targets, keys)
        found.block_until_ready()
        seconds.append(time.perf_counter() - start)
    yes = np.asarray(logit(found))[:, 0] >= 0.0
    distance = np.abs(np.asarray(found - points)).sum(1)
    line = {
        "method": "jax-relax VanillaCF",
        "policy": "continuous",
        "seconds": min(seconds[1:]),
        "people": int(points.shape[0]),
        "validity": float(yes.mean()),
        "distance": float(distance[yes].mean()),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()

"""Reads a model file with PyPI's safetensors and numpy alone, and prints the logits of the points on stdin as JSON.

Usage: read_artifact.py MODEL < points.json, where points.json is a list of points, each a list of numbers.
"""

import json
import sys

import numpy
from safetensors import safe_open


def main():
    with safe_open(sys.argv[1], framework="numpy") as file:
        about = json.loads(file.metadata()["redress"])
        names = set(file.keys())
        layers = [
            (file.get_tensor(f"layers.{index}.weight"), file.get_tensor(f"layers.{index}.bias"))
            for index in range(about["layers"])
        ]
    assert names == {f"layers.{i}.{kind}" for i in range(len(layers)) for kind in ("weight", "bias")}, names
    activation = {"tanh": numpy.tanh, "relu": lambda z: numpy.maximum(z, 0)}[about["activation"]]
    values = numpy.array(json.load(sys.stdin), dtype=numpy.float32)
    for index, (weight, bias) in enumerate(layers):
        values = values @ weight.T + bias
        if index + 1 < len(layers):
            values = activation(values)
    json.dump([float(value) for value in values[:, 0]], sys.stdout)


if __name__ == "__main__":
    main()

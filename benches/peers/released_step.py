"""Seconds that the way of the paper's released code needs for one adult model: a linear program a row and epoch.

The released code hands the gradient of every training row to a Python LP solver, one call a row, in every epoch. This
measures a slice of such training (the network of train_step.py, scipy.optimize.linprog for δ*) on one thread and
extrapolates to 26,048 training rows × 15 epochs. Prints one line of JSON. Needs PyPI's torch and scipy.
"""

import argparse
import json
import time

import numpy as np
import torch
from scipy.optimize import linprog
from torch import nn
from train_step import INPUTS, REACH, network

LEVERS = (1, 4)
ROWS, EPOCHS, BATCH = 26_048, 15, 15


def programs(gradients, bounds):
    """δ* of each row: the linear program over the box, solved by the simplex method of HiGHS."""
    return np.stack([linprog(gradient, bounds=bounds, method="highs-ds").x for gradient in gradients])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60, help="measured steps of 15 rows")
    steps = parser.parse_args().steps
    net, loss = network(), nn.BCEWithLogitsLoss()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.002)
    bounds = [(-REACH, REACH) if column in LEVERS else (0.0, 0.0) for column in range(INPUTS)]
    in_programs = 0.0
    start = time.perf_counter()
    for _ in range(steps):
        x = torch.randn(BATCH, INPUTS, requires_grad=True)
        y = (torch.rand(BATCH) < 0.25).float()
        optimiser.zero_grad(set_to_none=True)
        (gradient,) = torch.autograd.grad(loss(net(x).squeeze(1), torch.ones_like(y)), x)
        before = time.perf_counter()
        change = programs(gradient.double().numpy(), bounds)
        in_programs += time.perf_counter() - before
        moved = x.detach() + torch.as_tensor(change, dtype=torch.float32)
        first = loss(net(x.detach()).squeeze(1), y)
        second = loss(net(moved).squeeze(1), torch.ones_like(y))
        (first + 0.8 * second).backward()
        optimiser.step()
    seconds = time.perf_counter() - start
    whole = ROWS * EPOCHS / BATCH / steps
    print(json.dumps({
        "steps": steps,
        "ms_per_step": 1e3 * seconds / steps,
        "us_per_program": 1e6 * in_programs / (steps * BATCH),
        "one_adult_model_s": seconds * whole,
        "of_which_programs_s": in_programs * whole,
    }))


if __name__ == "__main__":
    main()

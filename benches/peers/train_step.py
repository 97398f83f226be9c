"""Microseconds a training step in eager PyTorch with fused Adam, on one thread.

The same work as crates/redress/benches/train_step.rs: rows gathered from a table in shuffled order; 9 inputs, three hidden
layers of 100, tanh, dropout 0.3; two columns that people can move, each person within bounds of their own; class weights
in the first term; the loss summed for the epoch's report. One forward pass serves the first term and the gradient by x.
Every figure is the least of many short runs. Prints one line of JSON. Needs PyPI's torch.
"""

import json
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
INPUTS, HIDDEN, DROPOUT, LEVERS, REACH = 9, 100, 0.3, 2, 0.75


def network():
    layers, inputs = [], INPUTS
    for _ in range(3):
        layers += [nn.Linear(inputs, HIDDEN), nn.Tanh(), nn.Dropout(DROPOUT)]
        inputs = HIDDEN
    return nn.Sequential(*layers, nn.Linear(inputs, 1))


class Training:
    def __init__(self, rows, lam):
        self.net = network()
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=0.002, fused=True)
        self.loss = nn.BCEWithLogitsLoss()
        self.lam = lam
        self.x = torch.rand(rows, INPUTS) * 3.4 - 1.7
        self.y = (self.x[:, 0] + self.x[:, 1] > 0.5).float()
        self.lo, self.hi = self.x[:, :LEVERS] - REACH, self.x[:, :LEVERS] + REACH
        favourable = self.y.mean()
        self.weighted = nn.BCEWithLogitsLoss(pos_weight=(1 - favourable) / favourable)
        self.total = 0.0

    def step(self, rows):
        self.optimiser.zero_grad(set_to_none=True)
        x, y = self.x[rows], self.y[rows]
        if self.lam > 0.0:
            x.requires_grad_(True)
        logits = self.net(x).squeeze(1)
        loss = self.weighted(logits, y)
        if self.lam > 0.0:
            (gradient,) = torch.autograd.grad(logits.sum(), x, retain_graph=True)
            moved = x.detach().clone()
            moved[:, :LEVERS] = torch.where(gradient[:, :LEVERS] > 0, self.hi[rows], self.lo[rows])
            loss = loss + self.lam * self.loss(self.net(moved).squeeze(1), torch.ones_like(y))
        loss.backward()
        self.optimiser.step()
        self.total += loss.item()


def microseconds(batch, lam, steps, rounds):
    training = Training(64 * batch, lam)
    least = float("inf")
    for _ in range(rounds):
        batches = torch.randperm(64 * batch)[: steps * batch].split(batch)
        start = time.perf_counter()
        for rows in batches:
            training.step(rows)
        least = min(least, (time.perf_counter() - start) / steps * 1e6)
    return least


def main():
    out = {"torch": torch.__version__}
    for batch, steps, rounds in [(15, 2, 1000), (256, 1, 600)]:
        out[f"plain_{batch}"] = round(microseconds(batch, 0.0, steps, rounds), 1)
        out[f"recourse_{batch}"] = round(microseconds(batch, 0.8, steps, rounds), 1)
    print(json.dumps(out))


if __name__ == "__main__":
    main()

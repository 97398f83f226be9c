"""Microseconds a training step in eager PyTorch with fused Adam, on one thread.

The same network, batch, recourse step and optimiser as crates/redress/benches/train_step.rs: 9 inputs, three hidden
layers of 100, tanh, dropout 0.3; two columns that people can move by 0.75; class weights in the first term. Every
figure is the least of many short runs. Prints one line of JSON. Needs PyPI's torch.
"""

import json
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
INPUTS, HIDDEN, DROPOUT, LEVERS, REACH = 9, 100, 0.3, [0, 1], 0.75


def network():
    layers, inputs = [], INPUTS
    for _ in range(3):
        layers += [nn.Linear(inputs, HIDDEN), nn.Tanh(), nn.Dropout(DROPOUT)]
        inputs = HIDDEN
    return nn.Sequential(*layers, nn.Linear(inputs, 1))


def step(net, optimiser, loss, weighted, reach, x, y, lam):
    optimiser.zero_grad(set_to_none=True)
    if lam == 0.0:
        weighted(net(x).squeeze(1), y).backward()
        optimiser.step()
        return
    # One forward pass serves the first term and the gradient by x that finds the change.
    x = x.requires_grad_(True)
    logits = net(x).squeeze(1)
    (gradient,) = torch.autograd.grad(logits.sum(), x, retain_graph=True)
    moved = x.detach() + reach * gradient.sign()
    first = weighted(logits, y)
    second = loss(net(moved).squeeze(1), torch.ones_like(y))
    (first + lam * second).backward()
    optimiser.step()


def microseconds(batch, lam, steps, rounds):
    net = network()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.002, fused=True)
    loss = nn.BCEWithLogitsLoss()
    weighted = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))
    reach = torch.zeros(INPUTS)
    reach[LEVERS] = REACH
    batches = []
    for _ in range(steps):
        x = torch.rand(batch, INPUTS) * 3.4 - 1.7
        batches.append((x, (x[:, 0] + x[:, 1] > 0.5).float()))
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for x, y in batches:
            step(net, optimiser, loss, weighted, reach, x.detach(), y, lam)
        least = min(least, (time.perf_counter() - start) / steps * 1e6)
    return least


def main():
    out = {"torch": torch.__version__}
    for batch, steps, rounds in [(15, 8, 300), (256, 4, 200)]:
        out[f"plain_{batch}"] = round(microseconds(batch, 0.0, steps, rounds), 1)
        out[f"recourse_{batch}"] = round(microseconds(batch, 0.8, steps, rounds), 1)
    print(json.dumps(out))


if __name__ == "__main__":
    main()

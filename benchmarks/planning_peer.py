#!/usr/bin/env python3
"""The same recurrent Q-learning agent in PyTorch, written as one would: environments in numpy, all legal plans of a
state as one batch. Prints the processor time of a number of updates, acting included, as JSON.

The world has the size of the paper's (3 swarms, 8 clusters, 2 stations, 12 timings); sites, tables and drifts are
drawn here, which does not matter for the time.
"""
import argparse
import itertools
import json
import time

import numpy as np
import torch

SWARMS, CLUSTERS, STATIONS = 3, 8, 2
SITES = CLUSTERS + STATIONS
ENVIRONMENTS, BATCH, UPDATE_PERIOD, REPLAY, TARGET_PERIOD, WINDOW = 8, 32, 2, 4000, 100, 4
MEMORY, HIDDEN, HIDDEN2, DISCOUNT = 32, 64, 32, 0.95
CAPACITY, THRESHOLD = 48600.0, 16880.0


class World:
    def __init__(self, rng):
        places = rng.uniform(0, 1500, (SITES, 2))
        self.travel = 4.8 * np.linalg.norm(places[:, None] - places[None], axis=2)
        self.timings = np.array(list(itertools.product([180, 220, 260], [1, 2], [1, 2])), float)
        self.objective = rng.uniform(148, 320, (12, SWARMS, CLUSTERS))
        self.energy = rng.uniform(78, 153, (12, SWARMS, CLUSTERS))
        self.drift = rng.uniform(2, 16, CLUSTERS)
        self.plans = np.array(list(itertools.permutations(range(SITES), SWARMS)))
        self.to_station = self.travel[:, CLUSTERS:].min(1)
        # What does not change with the state: the best timing of every plan and its objective.
        total = np.zeros((12, len(self.plans)))
        for u in range(SWARMS):
            padded = np.concatenate([self.objective[:, u], np.zeros((12, STATIONS))], 1)
            total += padded[:, self.plans[:, u]]
        self.best_timing = total.argmin(0)
        self.best_objective = total.min(0)
        self.visited = np.zeros((len(self.plans), CLUSTERS), bool)
        for u in range(SWARMS):
            at_cluster = self.plans[:, u] < CLUSTERS
            self.visited[at_cluster, self.plans[at_cluster, u]] = True
        self.idle = (self.plans >= CLUSTERS).sum(1) * 200.0
        self.mean_energy = np.concatenate([self.energy.mean(0), np.zeros((SWARMS, STATIONS))], 1)
        self.one_hot = np.zeros((len(self.plans), SWARMS * SITES), np.float32)
        for u in range(SWARMS):
            self.one_hot[np.arange(len(self.plans)), u * SITES + self.plans[:, u]] = 1

    def start(self, rng):
        position = rng.permutation(CLUSTERS)[:SWARMS]
        age = np.ones(CLUSTERS)
        age[position] = 0
        return dict(position=position, battery=np.full(SWARMS, CAPACITY), age=age, timing=0)

    def choices(self, state):
        """Indices of legal plans, their one-step rewards and features."""
        flight = np.stack([self.travel[state["position"][u]][self.plans[:, u]] for u in range(SWARMS)], 1)
        training = np.stack([self.mean_energy[u][self.plans[:, u]] for u in range(SWARMS)], 1)
        station = self.plans >= CLUSTERS
        left = state["battery"] - flight
        after = np.where(station, CAPACITY, left - training)
        legal = np.where(station, left >= 0, (after >= THRESHOLD) & (after >= self.to_station[self.plans])).all(1)
        if not legal.any():
            legal[:] = True
        index = np.nonzero(legal)[0]
        age = np.where(self.visited[index], 0, np.minimum(state["age"] + 1, 20))
        gradient = age * self.drift
        travel = flight[index].sum(1)
        cost = 0.2 * self.best_objective[index] + self.idle[index] + 0.25 * gradient.sum(1) + 0.005 * travel
        reward = 1e5 / cost
        timing = self.timings[self.best_timing[index]] / [260, 2, 2]
        features = np.concatenate([self.one_hot[index],
                                   (after[index] - THRESHOLD) / (CAPACITY - THRESHOLD),
                                   age / 10, gradient / 160, timing, travel[:, None] / 1e4,
                                   reward[:, None] / 100], 1).astype(np.float32)
        return index, reward, features

    def step(self, state, plan, timing):
        sites = self.plans[plan]
        battery = state["battery"].copy()
        age = state["age"] + 1
        for u, site in enumerate(sites):
            battery[u] -= self.travel[state["position"][u], site]
            if site >= CLUSTERS:
                battery[u] = CAPACITY
            else:
                battery[u] -= self.energy[timing, u, site]
                age[site] = 0
        return dict(position=sites, battery=battery, age=age, timing=timing)

    def observe(self, state):
        out = np.zeros(SWARMS * (SITES + 2) + 3 * CLUSTERS + 3, np.float32)
        for u in range(SWARMS):
            first = u * (SITES + 2)
            out[first + state["position"][u]] = 1
            out[first + SITES] = (state["battery"][u] - THRESHOLD) / (CAPACITY - THRESHOLD)
            out[first + SITES + 1] = state["position"][u] < CLUSTERS
        first = SWARMS * (SITES + 2)
        age = np.minimum(state["age"], 20)
        out[first:first + 3 * CLUSTERS] = np.stack([age / 10, age * self.drift / 160, self.drift / 16], 1).ravel()
        out[-3:] = self.timings[state["timing"]] / [260, 2, 2]
        return out


class QNetwork(torch.nn.Module):
    def __init__(self, features, plan_features):
        super().__init__()
        self.lstm = torch.nn.LSTM(features, MEMORY, batch_first=True)
        self.first = torch.nn.Linear(MEMORY + plan_features, HIDDEN)
        self.second = torch.nn.Linear(HIDDEN, HIDDEN2)
        self.third = torch.nn.Linear(HIDDEN2, 1)

    def forward(self, windows, plans, owner):
        """Plans of several states; owner says whose each is."""
        memory = self.lstm(windows)[0][:, -1]
        hidden = torch.relu(self.first(torch.cat([memory[owner], plans], 1)))
        return self.third(torch.relu(self.second(hidden)))[:, 0]


def best_plans(network, windows, choices):
    """The greedy choice of each state."""
    owner = np.repeat(np.arange(len(choices)), [len(c[0]) for c in choices])
    with torch.no_grad():
        q = network(torch.from_numpy(windows), torch.from_numpy(np.concatenate([c[2] for c in choices])),
                    torch.from_numpy(owner)).numpy()
    q = q + np.concatenate([c[1] for c in choices]) / 100
    ends = np.cumsum([len(c[0]) for c in choices])
    return [int(q[end - len(c[0]):end].argmax()) for c, end in zip(choices, ends)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    world = World(rng)
    states = [world.start(rng) for _ in range(ENVIRONMENTS)]
    features = len(world.observe(states[0]))
    plan_features = world.choices(states[0])[2].shape[1]
    train = QNetwork(features, plan_features)
    target = QNetwork(features, plan_features)
    target.load_state_dict(train.state_dict())
    adam = torch.optim.Adam(train.parameters(), 1e-3)
    history = [[world.observe(s)] * WINDOW for s in states]
    replay = []
    updates = steps = 0
    start = time.process_time()
    while updates < options.updates:
        choices = [world.choices(s) for s in states]
        windows = np.stack([np.stack(h[-WINDOW:]) for h in history])
        greedy = best_plans(train, windows, choices)
        for i, state in enumerate(states):
            index, reward, plan = choices[i]
            chosen = rng.integers(len(index)) if rng.random() < 0.5 else greedy[i]
            after = world.step(state, index[chosen], world.best_timing[index[chosen]])
            history[i] = history[i][-WINDOW + 1:] + [world.observe(after)]
            replay.append((windows[i], plan[chosen], after, np.stack(history[i])))
            states[i] = after
        replay = replay[-REPLAY * ENVIRONMENTS:]
        steps += 1
        if steps * ENVIRONMENTS < 4 * BATCH or steps % UPDATE_PERIOD:
            continue
        sample = [replay[j] for j in rng.integers(len(replay), size=BATCH)]
        later = np.stack([s[3] for s in sample])
        choices = [world.choices(s[2]) for s in sample]
        best = best_plans(train, later, choices)
        chosen = np.stack([c[2][b] for c, b in zip(choices, best)])
        owner = torch.arange(BATCH)
        with torch.no_grad():
            value = target(torch.from_numpy(later), torch.from_numpy(chosen), owner)
            value += torch.tensor([(c[1][b] - 630) / 100 for c, b in zip(choices, best)], dtype=torch.float32)
        q = train(torch.from_numpy(np.stack([s[0] for s in sample])),
                  torch.from_numpy(np.stack([s[1] for s in sample])), owner)
        loss = torch.nn.functional.huber_loss(q, DISCOUNT * value)
        adam.zero_grad()
        loss.backward()
        adam.step()
        updates += 1
        if updates % TARGET_PERIOD == 0:
            target.load_state_dict(train.state_dict())
    seconds = time.process_time() - start
    print(json.dumps({"updates": updates, "steps": steps * ENVIRONMENTS, "seconds": seconds,
                      "updates_per_second": updates / seconds, "torch": torch.__version__}))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Radio, propulsion, energy and time, computed from the paper's section IV-A alone.

Writes physics_radio.csv, physics_propulsion.csv, physics_energy.csv and physics_gathering.csv beside this file:
random cases with their inputs, in the units of a scenario, and the results in SI units with 17 digits. The C++
tests compare with them. All arithmetic is in extended precision, so the files are right to the last digit shown,
or nearly.

    python3 tests/reference/physics_reference.py [--check]

--check writes nothing and says whether the files are what this script gives.
"""

import csv
import io
import pathlib
import random
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
REAL = numpy.longdouble
PI = REAL("3.14159265358979323846264338327950288")
LIGHT = REAL(299792458)
GRAVITY = REAL("9.80665")


def real(text):
    """The double that C++ reads from the same text."""
    return REAL(float(text))


def from_decibel(number):
    return REAL(10) ** (number / 10)


def digits(value):
    return "%.17g" % float(value)


def rounded(value, places=6):
    return "%.*g" % (places, value)


# --- Radio ---------------------------------------------------------------------------------------------------


def distance(a, b):
    return numpy.sqrt(sum((p - q) ** 2 for p, q in zip(a, b)))


def elevation(a, b):
    d = distance(a, b)
    if d == 0:
        return REAL(90)  # our definition: the paper's formula is 0 / 0
    return 180 / PI * numpy.arcsin(min(abs(a[2] - b[2]) / d, REAL(1)))


def radio_case(row):
    v = {name: real(text) for name, text in row.items()}
    a = (v["ax_m"], v["ay_m"], v["az_m"])
    b = (v["bx_m"], v["by_m"], v["bz_m"])
    los = from_decibel(v["los_excess_db"])
    nlos = from_decibel(v["nlos_excess_db"])
    d = distance(a, b)
    theta = elevation(a, b)
    probability = 1 / (1 + v["los_psi"] * numpy.exp(-v["los_beta"] * (theta - v["los_psi"])))
    # Limits of ours, not the paper's: at least 1 m apart, and no loss below 1.
    spreading = (4 * PI * v["carrier_ghz"] * 10**9 / LIGHT * max(d, REAL(1))) ** v["path_loss_exponent"]
    air_to_air = max(REAL(1), los * spreading)
    air_to_ground = max(REAL(1), spreading * (probability * los + (1 - probability) * nlos))
    bandwidth = v["bandwidth_mhz"] * 10**6
    noise = from_decibel(v["noise_dbm_per_hz"]) / 1000 * bandwidth
    power = from_decibel(v["power_dbm"]) / 1000

    def rate(loss):
        return bandwidth * numpy.log1p(power / loss / noise) / numpy.log(REAL(2))

    return {
        "distance": d,
        "elevation": theta,
        "los_probability": probability,
        "air_to_air_loss": air_to_air,
        "air_to_ground_loss": air_to_ground,
        "air_to_air_rate": rate(air_to_air),
        "air_to_ground_rate": rate(air_to_ground),
    }


def radio_rows():
    draw = random.Random(1).uniform
    for case in range(1300):
        row = {
            "carrier_ghz": "2",
            "path_loss_exponent": "2",
            "los_excess_db": "3",
            "nlos_excess_db": "23",
            "los_psi": "11.95",
            "los_beta": "0.14",
            "noise_dbm_per_hz": "-174",
            "bandwidth_mhz": "2",
        }
        if case % 2:
            row = {
                "carrier_ghz": rounded(draw(0.1, 30)),
                "path_loss_exponent": rounded(draw(1.5, 4.5)),
                "los_excess_db": rounded(draw(0, 10)),
                "nlos_excess_db": rounded(draw(10, 40)),
                "los_psi": rounded(draw(4, 28)),
                "los_beta": rounded(draw(0.05, 0.6)),
                "noise_dbm_per_hz": rounded(draw(-180, -150)),
                "bandwidth_mhz": rounded(draw(0.1, 100)),
            }
        point = {
            "ax_m": draw(-3000, 3000),
            "ay_m": draw(-3000, 3000),
            "az_m": draw(0, 10),
            "bx_m": 0.0,
            "by_m": 0.0,
            "bz_m": draw(5, 500),
        }
        reach = draw(0, 300) if case % 3 else draw(300, 5000)
        point["bx_m"] = point["ax_m"] + draw(-reach, reach)
        point["by_m"] = point["ay_m"] + draw(-reach, reach)
        if case % 50 == 10:  # straight above, or nearly
            point["bx_m"], point["by_m"] = point["ax_m"], point["ay_m"]
        if case % 50 == 20:
            point["bx_m"], point["by_m"] = point["ax_m"] + draw(-0.1, 0.1), point["ay_m"]
        if case % 50 == 30:  # level
            point["bz_m"] = point["az_m"]
        if case % 50 == 40:  # closer than a metre
            point["bx_m"], point["by_m"] = point["ax_m"] + draw(-0.5, 0.5), point["ay_m"]
            point["bz_m"] = point["az_m"] + draw(-0.5, 0.5)
        if case % 500 == 49:  # at one point
            point["bx_m"], point["by_m"], point["bz_m"] = point["ax_m"], point["ay_m"], point["az_m"]
        if case % 500 == 99:  # long waves over a short way: the formula alone would amplify
            row["carrier_ghz"] = "0.001"
            point["bx_m"], point["by_m"] = point["ax_m"] + 2, point["ay_m"]
            point["bz_m"] = point["az_m"] + 1
        row.update({name: rounded(value, 8) for name, value in point.items()})
        row["power_dbm"] = rounded(draw(0, 40))
        yield row


# --- Propulsion ----------------------------------------------------------------------------------------------

LOW, HIGH = REAL(1), REAL(60)


def least(cost, slope):
    """Where cost is least on [LOW, HIGH]: the best cell of a fine grid, then bisection on the slope."""
    grid = LOW + (HIGH - LOW) * numpy.arange(2001, dtype=REAL) / 2000
    best = int(numpy.argmin(cost(grid)))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 2000)]
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return (low + high) / 2


def flight_results(power, slope, speed, hover):
    endurance = least(power, slope)
    reach = least(lambda v: power(v) / v, lambda v: v * slope(v) - power(v))
    return {
        "power": power(speed),
        "energy_per_metre": power(speed) / speed,
        "hover_power": hover,
        "endurance_speed": endurance,
        "least_power": power(endurance),
        "range_speed": reach,
        "least_energy_per_metre": power(reach) / reach,
    }


def wing_results(c1, c2, speed, loiter_speed, radius):
    lift = 1 if radius == 0 else 1 + (loiter_speed**2 / (radius * GRAVITY)) ** 2
    return flight_results(
        lambda v: c1 * v**3 + c2 / v,
        lambda v: 3 * c1 * v**2 - c2 / v**2,
        speed,
        c1 * loiter_speed**3 + c2 / loiter_speed * lift,
    )


def fixed_wing(v, speed):
    drag, area, mass, oswald, aspect, density, loiter_speed, radius = v
    weight = mass * GRAVITY
    c1 = density * drag * area / 2
    c2 = 2 * weight**2 / (PI * oswald * aspect * density * area)
    return wing_results(c1, c2, speed, loiter_speed, radius)


def published_fixed_wing(v, speed):
    drag, area, mass, other_area, loiter_speed = v
    density = real("1.225")
    c1 = density * drag * area / 2
    c2 = 2 * mass**2 / (PI * real("0.8") * other_area * density**3)
    return wing_results(c1, c2, speed, loiter_speed, 0)


def rotary_wing(v, speed):
    blade, induced, tip, inflow, drag, solidity, disc, density = v

    def power(u):
        return (
            blade * (1 + 3 * u**2 / tip**2)
            + induced * numpy.sqrt(numpy.sqrt(1 + u**4 / (4 * inflow**4)) - u**2 / (2 * inflow**2))
            + drag * density * solidity * disc * u**3 / 2
        )

    def slope(u):
        x = u**2 / (2 * inflow**2)
        root = numpy.sqrt(1 + x**2)
        return (
            6 * blade * u / tip**2
            - induced * numpy.sqrt(root - x) / (2 * root) * u / inflow**2
            + 3 * drag * density * solidity * disc * u**2 / 2
        )

    return flight_results(power, slope, speed, blade + induced)


def propulsion_rows():
    draw = random.Random(2).uniform
    kinds = {
        "fixed_wing": (
            fixed_wing,
            lambda: (draw(0.01, 0.06), draw(0.1, 4), draw(0.5, 25), draw(0.6, 1), draw(4, 20), draw(0.8, 1.3),
                     draw(5, 40), 0.0 if draw(0, 1) < 0.3 else draw(20, 600)),
        ),
        "published_fixed_wing": (
            published_fixed_wing,
            lambda: (draw(0.0161, 0.0378), draw(0.5, 3), draw(0.1, 10), draw(0.5, 3), draw(3, 10)),
        ),
        "rotary_wing": (
            rotary_wing,
            lambda: (draw(10, 500), draw(10, 500), draw(80, 250), draw(2, 12), draw(0.1, 1.2), draw(0.02, 0.2),
                     draw(0.05, 3), draw(0.8, 1.3)),
        ),
    }
    for case in range(1200):
        name = list(kinds)[case % 3]
        formula, sample = kinds[name]
        values = [rounded(value) for value in sample()]
        speed = rounded(draw(1, 60))
        row = {"kind": name, "speed_mps": speed}
        row.update({"value%d" % i: values[i] if i < len(values) else "" for i in range(8)})
        yield row, formula([real(text) for text in values], real(speed))


# --- Energy and time -----------------------------------------------------------------------------------------


def energy_case(row):
    v = {name: real(text) for name, text in row.items()}
    links = range(3)
    cycles = v["local_period"] * v["cycles_per_datapoint"] * v["sampled_ratio"] * v["num_datapoints"]
    frequency = v["frequency_mhz"] * 10**6
    serial = sum(v["share%d" % i] * v["datapoint_kbit"] * 1000 / (v["rate%d_mbps" % i] * 10**6) for i in links)
    power = from_decibel(v["power_dbm"]) / 1000
    model = [v["model_kbit"] * 1000 / (v["rate%d_mbps" % i] * 10**6) for i in links]
    processing = cycles / frequency
    one_way = v["distance_m"] / v["speed_mps"]
    missing = v["missing_kj"] * 1000
    if v["swap_s"] > 0:
        recharge = v["swap_s"]
        gained = missing if v["available_s"] >= recharge else REAL(0)
    else:
        recharge = missing / v["charge_w"]
        gained = min(missing, v["charge_w"] * v["available_s"])
    return {
        "processing_energy": v["local_period"] * v["capacitance"] * v["cycles_per_datapoint"] / 2
        * v["sampled_ratio"] * v["num_datapoints"] * frequency**2,
        "processing_time": processing,
        "data_time": serial,
        "data_energy": power * serial,
        "upload_energy": v["local_aggregations"] * power * model[0],
        "broadcast_energy": v["local_aggregations"] * power * max(model),
        "round_time": serial + processing + model[0] + max(model),
        "hovering_energy": v["hover_w"] * v["hover_s"],
        "flight_time": one_way,
        "travel_energy": v["cruise_w"] / v["speed_mps"] * v["distance_m"],
        "access_point_energy": 2 * v["global_aggregations"] * v["cruise_w"] / v["speed_mps"] * v["distance_m"],
        "access_point_time": 2 * v["global_aggregations"] * one_way,
        "recharge_time": recharge,
        "recharged_energy": gained,
    }


def energy_rows():
    source = random.Random(3)
    draw = source.uniform
    for case in range(1100):
        row = {
            "local_period": str(source.randint(1, 8)),
            "capacitance": rounded(draw(0.5e-28, 5e-28), 5),
            "cycles_per_datapoint": rounded(draw(1e3, 1e6), 5),
            "sampled_ratio": rounded(draw(0.01, 3), 5),
            "num_datapoints": rounded(draw(1, 5000), 5),
            "frequency_mhz": rounded(draw(10, 2300), 5),
            "power_dbm": rounded(draw(10, 30), 5),
            "datapoint_kbit": rounded(draw(1, 200), 5),
            "model_kbit": rounded(draw(1, 1e5), 5),
            "local_aggregations": str(source.randint(0, 40)),
            "global_aggregations": str(source.randint(0, 20)),
            "hover_w": rounded(draw(1, 500), 5),
            "cruise_w": rounded(draw(1, 500), 5),
            "hover_s": rounded(draw(0, 5000), 5),
            "distance_m": rounded(draw(0, 5000), 5),
            "speed_mps": rounded(draw(1, 40), 5),
            "charge_w": rounded(draw(10, 2000), 5),
            "swap_s": "0" if case % 3 else rounded(draw(10, 600), 5),
            "missing_kj": rounded(draw(0.001, 200), 5),
            "available_s": rounded(draw(0, 600), 5),
        }
        for i in range(3):
            row["share%d" % i] = "0" if draw(0, 1) < 0.1 else rounded(draw(0.01, 1000), 5)
            row["rate%d_mbps" % i] = rounded(draw(0.1, 200), 5)
        yield row


# --- Gathering -----------------------------------------------------------------------------------------------


def schedule(ready, busy, lasts):
    """Relays by stepping through time: whenever a coordinator and a worker are both free, the longest of their
    waiting relays starts. Returns when each worker has everything."""
    sender = list(ready)
    receiver = list(busy)
    waiting = {(h, j): lasts[h][j] for h in range(len(ready)) for j in range(len(busy)) if lasts[h][j] > 0}
    now = REAL(0)
    while waiting:
        startable = [k for k in waiting if sender[k[0]] <= now and receiver[k[1]] <= now]
        if startable:
            h, j = min(startable, key=lambda k: (-waiting[k], k))
            sender[h] = receiver[j] = now + waiting.pop((h, j))
        else:
            now = min(t for t in sender + receiver if t > now)
    return receiver


def gathering_rows():
    source = random.Random(4)

    def share(idle, most):
        amount = "0" if source.random() < idle else rounded(source.uniform(1, most), 4)
        return amount + ":" + rounded(source.uniform(1, 50), 4)

    def table(rows, columns, idle, most):
        return [[share(idle, most) for _ in range(columns)] for _ in range(rows)]

    def text(values):
        return "|".join(" ".join(row) for row in values)

    for _ in range(400):
        devices, coordinators, workers = source.randint(1, 5), source.randint(1, 3), source.randint(1, 4)
        size = rounded(source.uniform(10, 100), 4)

        def seconds(item):
            amount, rate = item.split(":")
            return real(amount) * real(size) * 1000 / (real(rate) * 10**6)

        to_coordinator = table(coordinators, devices, 0.2, 500)
        to_worker = table(workers, devices, 0.6, 200)  # little, so that workers wait for coordinators
        relay = table(coordinators, workers, 0.2, 1000)
        ready = [sum((seconds(x) for x in row), REAL(0)) for row in to_coordinator]
        busy = [sum((seconds(x) for x in row), REAL(0)) for row in to_worker]
        lasts = [[seconds(x) for x in row] for row in relay]
        paper = [busy[j] + sum((lasts[h][j] for h in range(coordinators)), REAL(0)) for j in range(workers)]
        yield {
            "datapoint_kbit": size,
            "to_coordinator": text(to_coordinator),
            "to_worker": text(to_worker),
            "relay": text(relay),
            "coordinators": " ".join(digits(t) for t in ready),
            "paper_workers": " ".join(digits(t) for t in paper),
            "workers": " ".join(digits(t) for t in schedule(ready, busy, lasts)),
        }


# --- Files ---------------------------------------------------------------------------------------------------


def table_text(rows):
    rows = list(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def with_results(row, results):
    return {**row, **{name: digits(value) for name, value in results.items()}}


def files():
    return {
        "physics_radio.csv": table_text(with_results(row, radio_case(row)) for row in radio_rows()),
        "physics_propulsion.csv": table_text(with_results(row, out) for row, out in propulsion_rows()),
        "physics_energy.csv": table_text(with_results(row, energy_case(row)) for row in energy_rows()),
        "physics_gathering.csv": table_text(gathering_rows()),
    }


def main():
    stale = []
    for name, content in files().items():
        path = HERE / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text() != content:
                stale.append(name)
        else:
            path.write_text(content)
    if stale:
        sys.exit("differ from what this script gives: " + ", ".join(stale))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The named streams of skein/base/random.h, written a second time from their description.

Prints the golden values that tests/base/random_test.cc holds. Only whole-number arithmetic, so every bit must
agree: SplitMix64's finalizer hashes the name, four of its outputs seed xoshiro256++.
"""

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def rotate(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


class Stream:
    def __init__(self, seed, purpose, *ids):
        h = mix((seed + GOLDEN) & MASK)
        for byte in purpose.encode():
            h = mix((h + GOLDEN + byte) & MASK)
        h = mix(h ^ (len(purpose.encode()) * GOLDEN & MASK))
        for number in ids:
            h = mix((h * 3 + mix((number + GOLDEN) & MASK)) & MASK)
        self.state = []
        for _ in range(4):
            h = (h + GOLDEN) & MASK
            self.state.append(mix(h))

    def bits(self):
        s = self.state
        result = (rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result

    def below(self, bound):
        while True:
            product = self.bits() * bound
            if (product & MASK) >= (1 << 64) % bound:
                return product >> 64

    def shuffled(self, count):
        values = list(range(count))
        for i in range(count, 1, -1):
            j = self.below(i)
            values[i - 1], values[j] = values[j], values[i - 1]
        return values

    def choose(self, size, count):
        values = list(range(size))
        for i in range(count):
            j = i + self.below(size - i)
            values[i], values[j] = values[j], values[i]
        return values[:count]


def show(title, stream, draws=4):
    print(title, ", ".join(f"0x{stream.bits():016x}" for _ in range(draws)))


if __name__ == "__main__":
    show('(0, "")', Stream(0, ""))
    show('(7, "devices", 3)', Stream(7, "devices", 3))
    show('(7, "devices", 3, 5)', Stream(7, "devices", 3, 5))
    show('(2^64 - 1, "channel", -1)', Stream(MASK, "channel", MASK))
    stream = Stream(7, "uniform")
    print("uniform", ", ".join((2.0**-53 * (stream.bits() >> 11)).hex() for _ in range(4)))
    stream = Stream(7, "below")
    print("below 1000", [stream.below(1000) for _ in range(8)])
    print("shuffle 10", Stream(7, "shuffle").shuffled(10))
    print("choose 20 6", Stream(7, "choose").choose(20, 6))

#!/usr/bin/env python3
"""Writes the small pickles that tests/learning/pickle_test.cc reads: the same dictionary (modulation, SNR) ->
waveforms, as Python 2 and Python 3 write it under every protocol. Run with python3 and numpy; the output is
committed.

Value i of the array of entry e is e + i / 512, exact in float32."""

import pathlib
import pickle
import struct

import numpy as np

HERE = pathlib.Path(__file__).parent
KEYS = [("QPSK", 2), ("8PSK", 0), ("GFSK", -4), ("CPFSK", 18), ("PAM4", 0)]


def waveforms():
    return {
        key: (e + np.arange(2 * 2 * 128) / 512).astype(np.float32).reshape(2, 2, 128)
        for e, key in enumerate(KEYS)
    }


def quoted(data):
    """A str as Python 2's repr shows it."""
    text = "".join(
        {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(c)
        or (c if " " <= c <= "~" else "\\x%02x" % ord(c))
        for c in data.decode("latin1")
    )
    return b"'" + text.encode("ascii") + b"'"


def python2_protocol0(data):
    """What cPickle of Python 2.7 writes by default; the official files are of this kind."""
    out = [b"(dp1\n"]
    memo = 1

    def put():
        nonlocal memo
        memo += 1
        return b"p%d\n" % memo

    for index, ((modulation, snr), array) in enumerate(data.items()):
        out += [b"(S", quoted(modulation.encode()), b"\n", put(), b"I%d\n" % snr, b"t", put()]
        if index == 0:
            out += [b"cnumpy.core.multiarray\n_reconstruct\n", put(), b"(cnumpy\nndarray\n", put()]
            functions = memo - 1
        else:
            out += [b"g%d\n" % functions, b"(g%d\n" % (functions + 1)]
        out += [b"(I0\nt", put(), b"S'b'\n", put(), b"t", put(), b"R", put()]
        out += [b"(I1\n(I%d\nI%d\nI%d\nt" % array.shape, put()]
        if index == 0:
            out += [b"cnumpy\ndtype\n", put(), b"(S'f4'\n", put(), b"I0\nI1\nt", put(), b"R", put()]
            dtype = memo
            out += [b"(I3\nS'<'\n", put(), b"NNNI-1\nI-1\nI0\nt", put(), b"b"]
        else:
            out += [b"g%d\n" % dtype]
        out += [b"I00\nS", quoted(array.tobytes()), b"\n", put(), b"t", put(), b"bs"]
    return b"".join(out) + b"."


def python2_protocol2(data):
    """What Python 2.7 writes with protocol 2: BINSTRING for the values, SHORT_BINSTRING for short strings."""
    out = [b"\x80\x02}", b"q\x00", b"("]
    memo = 0

    def put():
        nonlocal memo
        memo += 1
        return b"q" + bytes([memo]) if memo < 256 else b"r" + struct.pack("<I", memo)

    def get(place):
        return b"h" + bytes([place])

    def short(text):
        return b"U" + bytes([len(text)]) + text + put()

    def integer(value):
        if 0 <= value < 256:
            return b"K" + bytes([value])
        return b"M" + struct.pack("<H", value) if 0 <= value < 65536 else b"J" + struct.pack("<i", value)

    for index, ((modulation, snr), array) in enumerate(data.items()):
        out += [short(modulation.encode()), integer(snr), b"\x86", put()]
        if index == 0:
            out += [b"cnumpy.core.multiarray\n_reconstruct\n", put(), b"cnumpy\nndarray\n", put()]
            functions = memo - 1
        else:
            out += [get(functions), get(functions + 1)]
        out += [b"K\x00\x85", put(), short(b"b"), b"\x87", put(), b"R", put()]
        out += [b"(K\x01", b"".join(integer(n) for n in array.shape), b"\x87", put()]
        if index == 0:
            out += [b"cnumpy\ndtype\n", put(), short(b"f4"), b"K\x00K\x01\x87", put(), b"R", put()]
            dtype = memo
            out += [b"(K\x03", short(b"<"), b"NNN", integer(-1), integer(-1), b"K\x00t", put(), b"b"]
        else:
            out += [get(dtype)]
        values = array.tobytes()
        out += [b"\x89T", struct.pack("<i", len(values)), values, put(), b"t", put(), b"b"]
    return b"".join(out) + b"u."


def main():
    data = waveforms()
    for protocol in range(6):
        (HERE / f"python3_protocol{protocol}.pkl").write_bytes(pickle.dumps(data, protocol))
    (HERE / "python2_protocol0.pkl").write_bytes(python2_protocol0(data))
    (HERE / "python2_protocol2.pkl").write_bytes(python2_protocol2(data))
    wide = {(m, np.int64(s)): a.astype(np.float64) for (m, s), a in data.items()}
    (HERE / "float64_numpy_keys.pkl").write_bytes(pickle.dumps(wide, 4))
    for path in sorted(HERE.glob("*.pkl")):
        loaded = pickle.loads(path.read_bytes(), encoding="latin1")
        assert sorted(loaded) == sorted(KEYS), path
        assert all((loaded[key] == data[key]).all() for key in KEYS), path


if __name__ == "__main__":
    main()

"""Reads a TensorBoard event file by its format alone, and prints it as JSON: a list of events."""
import json
import struct
import sys


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc32c(data)
    return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at : at + 8]), "length's check sum"
        body = data[at + 12 : at + 12 + length]
        assert len(body) == length, "a record is cut short"
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body), "data's check sum"
        yield body
        at += 16 + length


def fields(message):
    def varint(at):
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    at = 0
    while at < len(message):
        key, at = varint(at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", message, at)[0], at + 8
        elif kind == 2:
            length, at = varint(at)
            value, at = message[at : at + length], at + length
        elif kind == 5:
            value, at = struct.unpack_from("<f", message, at)[0], at + 4
        else:
            raise ValueError(f"wire kind {kind}")
        yield number, value


def event(body):
    out = {"wall_time": 0.0, "step": 0, "scalars": {}}
    for number, value in fields(body):
        if number == 1:
            out["wall_time"] = value
        elif number == 2:
            out["step"] = value
        elif number == 3:
            out["file_version"] = value.decode()
        elif number == 5:
            for inner, one in fields(value):
                assert inner == 1, "a summary has values"
                scalar = dict(fields(one))
                out["scalars"][scalar[1].decode()] = scalar[2]
        else:
            raise ValueError(f"field {number}")
    return out


with open(sys.argv[1], "rb") as file:
    json.dump([event(body) for body in records(file.read())], sys.stdout)

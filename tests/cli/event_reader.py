"""Reads TensorBoard's event files on its own: framing, checksums bit by bit, and the fields of the messages."""

import struct


def crc32c(data):
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0x82F63B78 if rest & 1 else 0)
    return rest ^ 0xFFFFFFFF


def masked(data):
    rest = crc32c(data)
    return ((rest >> 15 | rest << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF


def records(data, checked=1000):
    """The records of a file; the sums of so many of them are checked, for that takes long in Python."""
    at = 0
    while at < len(data):
        head = data[at : at + 8]
        (size,), (sum_of_head,) = struct.unpack("<Q", head), struct.unpack("<I", data[at + 8 : at + 12])
        record = data[at + 12 : at + 12 + size]
        (sum_of_record,) = struct.unpack("<I", data[at + 12 + size : at + 16 + size])
        if checked > 0 and (masked(head), masked(record)) != (sum_of_head, sum_of_record):
            raise ValueError(f"a wrong checksum at byte {at}")
        checked -= 1
        at += 16 + size
        yield record


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(message):
    """(number, value) of each field: an integer, the bytes of a fixed one, or those of a longer one."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 0:
            value, at = varint(message, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = varint(message, at)
            value, at = message[at : at + size], at + size
        yield key >> 3, value


def first(message, number, otherwise=b""):
    return next((value for field, value in fields(message) if field == number), otherwise)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class EventFile:
    """`version`, `scalars`: {tag: [(wall time, step, value)]}, `texts` and `parameters` of a whole file."""

    def __init__(self, path):
        self.scalars, self.texts, self.parameters = {}, {}, {}
        events = list(records(path.read_bytes()))
        self.version = first(events[0], 3).decode()
        for event in events:
            self.time = struct.unpack("<d", first(event, 1))[0]
            self.step = signed(first(event, 2, 0))
            for number, value in fields(first(event, 5)):
                if number == 1:
                    self.read(value)

    def read(self, value):
        tag = first(value, 1).decode()
        if simple := first(value, 2):
            self.scalars.setdefault(tag, []).append((self.time, self.step, struct.unpack("<f", simple)[0]))
            return
        plugin = first(first(value, 9), 1)
        if first(plugin, 1) == b"text":
            self.texts[tag] = first(first(value, 8), 8).decode()
        elif first(plugin, 1) == b"hparams":
            for number, entry in fields(first(first(plugin, 2), 3)):
                if number == 1:
                    kind, worth = next(iter(fields(first(entry, 2))))
                    reads = {2: lambda: struct.unpack("<d", worth)[0], 3: lambda: worth.decode(), 4: lambda: bool(worth)}
                    self.parameters[first(entry, 1).decode()] = reads[kind]()

"""Writes TensorBoard's event files on its own, for tests of what reads them."""

import struct

from event_reader import masked

TIME = 1_700_000_000_000


def varint(value):
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(data) + bytes([value])


def field(number, value):
    """A field of a message, by the Python type of its value: a double, an integer, or bytes."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def record(message):
    head = struct.pack("<Q", len(message))
    return head + struct.pack("<I", masked(head)) + message + struct.pack("<I", masked(message))


def event(step, value):
    return record(field(1, (TIME + step) / 1000) + field(2, step) + field(5, field(1, value)))


def simple(tag, step, value):
    return event(step, field(1, tag.encode()) + varint(2 << 3 | 5) + struct.pack("<f", value))


def tensor(tag, step, value):
    """As TensorFlow 2 writes scalars."""
    metadata = field(1, field(1, b"scalars")) + field(4, 1)
    content = field(1, 1) + field(2, b"") + field(4, struct.pack("<f", value))
    return event(step, field(1, tag.encode()) + field(8, content) + field(9, metadata))


def hyperparameters(**values):
    return parameters({key: field(2, value) for key, value in values.items()})


def texts(**values):
    """Hyperparameters that are text or, as no other writer has them, any bytes."""
    encoded = {key: value.encode() if isinstance(value, str) else value for key, value in values.items()}
    return parameters({key: field(3, value) for key, value in encoded.items()})


def parameters(values):
    start = b"".join(field(1, field(1, key.encode()) + field(2, value)) for key, value in values.items())
    plugin = field(1, b"hparams") + field(2, field(3, start))
    return event(0, field(1, b"_hparams_/session_start_info") + field(9, field(1, plugin)))


def session_start(step):
    return record(field(1, TIME / 1000) + field(2, step) + field(7, field(1, 1)))

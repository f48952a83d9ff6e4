"""Writes ONNX models (onnx.proto3, IR version 8) of NumPy arrays: the few messages that a graph of tensors takes."""
import struct

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
TYPES = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}
IR_VERSION, OPSET, MICROSOFT = 8, 17, "com.microsoft"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return b"".join((varint(field << 3 | 2), varint(len(content)), content))


def attribute(name, value):
    if isinstance(value, float):
        return message(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, int):
        return message(1, name) + integer(3, value) + integer(20, 2)
    return message(1, name) + b"".join(integer(8, item) for item in value) + integer(20, 7)


def tensor(name, array):
    dims = b"".join(integer(1, extent) for extent in array.shape)
    return dims + integer(2, TYPES[array.dtype.name]) + message(8, name) + message(9, array.tobytes())


def value_info(name, element, shape):
    dims = b"".join(message(1, integer(1, extent)) for extent in shape)
    return message(1, name) + message(2, message(1, integer(1, element) + message(2, dims)))


class Graph:
    def __init__(self):
        self.parts = []
        self.names = 0

    def constant(self, array):
        name = self.fresh("w")
        self.parts.append(message(5, tensor(name, array)))
        return name

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        """The name of its output, or a list of several."""
        names = [self.fresh(op) for _ in range(outputs)]
        content = b"".join(message(1, name) for name in inputs) + b"".join(message(2, name) for name in names)
        content += message(4, op) + message(7, domain)
        content += b"".join(message(5, attribute(*item)) for item in attributes.items())
        self.parts.append(message(1, content))
        return names[0] if outputs == 1 else names

    def fresh(self, what):
        self.names += 1
        return f"{what}_{self.names}"

    def write(self, path, inputs, outputs):
        """inputs and outputs: (name, element type, shape)"""
        graph = b"".join([*self.parts, message(2, "model"), *(message(11, value_info(*item)) for item in inputs),
                          *(message(12, value_info(*item)) for item in outputs)])
        opsets = b"".join(message(8, message(1, domain) + integer(2, version))
                          for domain, version in (("", OPSET), (MICROSOFT, 1)))
        path.write_bytes(integer(1, IR_VERSION) + message(7, graph) + opsets)

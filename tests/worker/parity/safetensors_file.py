"""Reads and writes safetensors files, after the format's description alone; shares no code with the worker."""
import json
import struct

import torch

TYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "BOOL": torch.bool,
}
NAMES = {dtype: name for name, dtype in TYPES.items()}


def read(path):
    """The tensors of a file by name, and its metadata."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(bytes(data[8:8 + length]))
    metadata = header.pop("__metadata__", {})
    buffer = data[8 + length:]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = TYPES[entry["dtype"]]
        flat = torch.frombuffer(buffer, dtype=torch.uint8, count=end - begin, offset=begin).clone()
        tensors[name] = flat.view(dtype).reshape(entry["shape"])
    return tensors, metadata


def write(path, tensors, metadata=None):
    header, parts, offset = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        part = tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + len(part)]}
        parts.append(part)
        offset += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))

"""Pins in files, one a kind of data: names and texts once each, numbers at full width, all compressed."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .ways import Fields

Pins = dict[str, Fields]  # by "data set/way/table/row"

FOLDER = Path(__file__).parent / "stored"
FIRST = "memory"  # numbers of the other ways are stored by the bits in which they differ from those of this one


def path_of(kind: str) -> Path:
    """Return the file of a kind."""
    return FOLDER / f"{kind}.pins"


def read(kind: str) -> Pins:
    """Read the pins of a kind."""
    return unpacked(path_of(kind).read_bytes())


def write(kind: str, pins: Pins) -> bool:
    """Write the pins of a kind where they are not those in the file; return whether they were written."""
    path, content = path_of(kind), packed(pins)
    if path.exists() and packed(unpacked(path.read_bytes())) == content:
        return False
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return True


def packed(pins: Pins) -> bytes:
    """Return pins as bytes: the same pins give the same bytes."""
    texts: dict[str, int] = {}
    shapes: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
    keys, forms, words, numbers = list[list[int]](), list[int](), list[int](), list[float]()
    for key, fields in pins.items():
        shape = tuple(name for name, value in fields.items() if not isinstance(value, str))
        named = tuple(name for name, value in fields.items() if isinstance(value, str))
        keys.append([texts.setdefault(part, len(texts)) for part in key.split("/", 3)])
        forms.append(shapes.setdefault((shape, named), len(shapes)))
        words += [texts.setdefault(str(fields[name]), len(texts)) for name in named]
        numbers += [float(fields[name]) for name in shape]
    found = np.array(numbers, np.float64)
    found[np.isnan(found)] = np.nan  # which of the many
    bits = found.view(np.uint64)
    mine, others = _pairs(list(pins), [list(shapes)[form][0] for form in forms])
    parted = bits.copy()
    parted[mine] ^= bits[others]
    header = json.dumps({"texts": list(texts), "shapes": list(shapes), "rows": len(keys)}, ensure_ascii=False).encode()
    codes = np.concatenate([np.array(part, "<i4").T.ravel() for part in (keys, forms, words)])
    planes = parted.astype("<u8").view(np.uint8).reshape(-1, 8).T.tobytes()
    sizes = np.array([len(header), len(codes)], "<i8").tobytes()
    return lzma.compress(sizes + header + codes.astype("<i4").tobytes() + planes, preset=9)


def unpacked(content: bytes) -> Pins:
    """Return pins from bytes."""
    content = lzma.decompress(content)
    header_size, code_count = np.frombuffer(content[:16], "<i8").tolist()
    begin, end = 16 + header_size, 16 + header_size + 4 * code_count
    header = json.loads(content[16:begin])
    codes, texts, rows = np.frombuffer(content[begin:end], "<i4"), header["texts"], header["rows"]
    keys = ["/".join([texts[part] for part in parts]) for parts in codes[: 4 * rows].reshape(4, rows).T.tolist()]
    forms = [header["shapes"][form] for form in codes[4 * rows : 5 * rows].tolist()]
    bits = np.frombuffer(content[end:], np.uint8).reshape(8, -1).T.copy().view("<u8").ravel()
    mine, others = _pairs(keys, [tuple(shape) for shape, _ in forms])
    bits[mine] ^= bits[others]
    numbers, words = iter(bits.view("<f8").tolist()), iter(codes[5 * rows :].tolist())
    pins: Pins = {}
    for key, (shape, named) in zip(keys, forms, strict=True):
        fields: Fields = {name: next(numbers) for name in shape}
        fields.update({name: texts[next(words)] for name in named})
        pins[key] = fields
    return pins


def _pairs(keys: Sequence[str], shapes: Iterable[Sequence[str]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the places of numbers that have a counterpart in memory, and the places of those."""
    places: dict[str, tuple[int, Sequence[str]]] = {}
    mine, others, start = list[int](), list[int](), 0
    for key, shape in zip(keys, shapes, strict=True):
        data, way, rest = key.split("/", 2)
        other = places.get(f"{data}/{FIRST}/{rest}")
        if way == FIRST:
            places[key] = start, shape
        elif other is not None and list(other[1]) == list(shape):
            mine += range(start, start + len(shape))
            others += range(other[0], other[0] + len(shape))
        start += len(shape)
    return np.array(mine, np.int64), np.array(others, np.int64)

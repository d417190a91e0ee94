"""Importing the package beside others."""

import struct
from pathlib import Path

from warpmeter import _core


def thread_local_bytes(path: Path) -> int:
    """Of a 64-bit ELF file: the size of its segment PT_TLS, 0 where it has none."""
    data = path.read_bytes()
    assert data[:5] == b"\x7fELF\x02"
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for at in range(offset, offset + size * count, size):
        (kind,) = struct.unpack_from("<I", data, at)
        if kind == 7:
            return int(struct.unpack_from("<Q", data, at + 40)[0])
    return 0


def test_it_leaves_room_in_the_memory_of_threads() -> None:
    # A thread's static block has little room for what is loaded late. Where libgomp, which PyTorch
    # brings, has had its share, a module that needs much cannot be loaded any more.
    assert 0 < thread_local_bytes(Path(_core.__file__)) <= 128

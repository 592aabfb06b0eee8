"""Writes OLE compound files ([MS-CFB]) of small streams, for tests of readers of Outlook messages."""

import struct

SECTOR, MINI_SECTOR, MINI_STREAM_CUTOFF = 512, 64, 4096
END, FREE, FAT_SECTOR, NO_ENTRY = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


def pack_entry(name, kind, right=NO_ENTRY, child=NO_ENTRY, start=END, size=0):
    encoded = name.encode("utf-16-le") + b"\0\0"
    head = struct.pack("<64sHBBIII", encoded, len(encoded), kind, 1, NO_ENTRY, right, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)


class Sectors:
    """Data in sectors of one size, with the table that says which sector follows which."""

    def __init__(self, size):
        self.size, self.data, self.table = size, b"", []

    def add(self, data):
        first = len(self.table)
        number = max(1, -(-len(data) // self.size))
        self.data += data.ljust(number * self.size, b"\0")
        self.table += [*range(first + 1, first + number), END]
        return first


class Directory:
    """Collects the entries of storages and streams, and the small streams."""

    def __init__(self):
        self.mini_stream, self.entries = Sectors(MINI_SECTOR), [b""]

    def add_children(self, children):
        """Add the entries of a storage, a chain of siblings to the right; return the number of the first."""
        numbers = [len(self.entries) + index for index in range(len(children))]
        self.entries += [b""] * len(children)
        following = [*numbers[1:], NO_ENTRY]
        for number, right, (name, content) in zip(numbers, following, children.items(), strict=True):
            if isinstance(content, dict):
                self.entries[number] = pack_entry(name, 1, right, self.add_children(content))
            else:
                assert len(content) < MINI_STREAM_CUTOFF
                start = self.mini_stream.add(content)
                self.entries[number] = pack_entry(name, 2, right, start=start, size=len(content))
        return numbers[0]


def write_ole(path, tree):
    """Write a file of streams (bytes) and storages (dictionaries of streams)."""
    directory, sectors = Directory(), Sectors(SECTOR)
    child = directory.add_children(tree)
    data, table = directory.mini_stream.data, directory.mini_stream.table
    directory.entries[0] = pack_entry("Root Entry", 5, child=child, start=sectors.add(data), size=len(data))
    mini_fat = sectors.add(struct.pack(f"<{len(table)}I", *table).ljust(SECTOR, b"\xff"))
    first_entry = sectors.add(b"".join(directory.entries))
    fat_sector = len(sectors.table)
    fat = struct.pack(f"<{fat_sector + 1}I", *sectors.table, FAT_SECTOR)
    assert len(fat) <= SECTOR, "too much for one sector of the allocation table"
    header = struct.pack("<8s16sHHHHH6x", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16), 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, first_entry, 0, MINI_STREAM_CUTOFF, mini_fat, 1, END, 0)
    header += struct.pack("<109I", fat_sector, *[FREE] * 108)
    path.write_bytes(header + sectors.data + fat.ljust(SECTOR, b"\xff"))

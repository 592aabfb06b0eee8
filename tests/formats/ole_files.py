"""Writes OLE compound files ([MS-CFB]) of small streams, for tests of readers of Outlook messages."""

import struct

SECTOR, MINI_SECTOR, MINI_STREAM_CUTOFF = 512, 64, 4096
END, FREE, FAT_SECTOR, NO_ENTRY = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


def pack_entry(name, kind, right=NO_ENTRY, child=NO_ENTRY, start=END, size=0):
    encoded = name.encode("utf-16-le") + b"\0\0"
    head = struct.pack("<64sHBBIII", encoded, len(encoded), kind, 1, NO_ENTRY, right, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)


class OleWriter:
    """Collects sectors of 512 bytes, and sectors of 64 bytes in the mini stream, with their allocation tables."""

    def __init__(self):
        self.sectors, self.fat = b"", []
        self.mini_stream, self.mini_fat = b"", []
        self.entries = [b""]

    def add_mini_stream(self, data):
        assert len(data) < MINI_STREAM_CUTOFF
        first = len(self.mini_fat)
        number = max(1, -(-len(data) // MINI_SECTOR))
        self.mini_stream += data.ljust(number * MINI_SECTOR, b"\0")
        self.mini_fat += [*range(first + 1, first + number), END]
        return first

    def add_sectors(self, data):
        first = len(self.fat)
        number = max(1, -(-len(data) // SECTOR))
        self.sectors += data.ljust(number * SECTOR, b"\0")
        self.fat += [*range(first + 1, first + number), END]
        return first

    def add_children(self, children):
        """Add the entries of a storage, a chain of siblings to the right; return the number of the first."""
        numbers = [len(self.entries) + index for index in range(len(children))]
        self.entries += [b""] * len(children)
        following = [*numbers[1:], NO_ENTRY]
        for number, right, (name, content) in zip(numbers, following, children.items(), strict=True):
            if isinstance(content, dict):
                self.entries[number] = pack_entry(name, 1, right, self.add_children(content))
            else:
                start = self.add_mini_stream(content)
                self.entries[number] = pack_entry(name, 2, right, start=start, size=len(content))
        return numbers[0]


def write_ole(path, tree):
    """Write a file of streams (bytes) and storages (dictionaries of streams)."""
    writer = OleWriter()
    child = writer.add_children(tree)
    start = writer.add_sectors(writer.mini_stream)
    mini_fat = writer.add_sectors(struct.pack(f"<{len(writer.mini_fat)}I", *writer.mini_fat).ljust(SECTOR, b"\xff"))
    writer.entries[0] = pack_entry("Root Entry", 5, child=child, start=start, size=len(writer.mini_stream))
    directory = writer.add_sectors(b"".join(writer.entries))
    fat_sector = len(writer.fat)
    fat = struct.pack(f"<{fat_sector + 1}I", *writer.fat, FAT_SECTOR)
    assert len(fat) <= SECTOR, "too much for one sector of the allocation table"
    header = struct.pack("<8s16sHHHHH6x", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16), 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, directory, 0, MINI_STREAM_CUTOFF, mini_fat, 1, END, 0)
    header += struct.pack("<109I", fat_sector, *[FREE] * 108)
    path.write_bytes(header + writer.sectors + fat.ljust(SECTOR, b"\xff"))

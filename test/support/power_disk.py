"""A disk whose power can be cut: it knows what was made durable, and draws what else has reached it.

What a completed sync of a file covers is there: all that was written to it before that sync began. Of the rest nothing is certain:

  - of each sector, any content that it has had since is there, in whatever mix: lost, torn and out of order;
  - the size is any that the file has had since; what lies beyond the bytes that arrived is zeros or garbage;
  - a file that was created or removed is there or not until its folder is synced;
  - a sync that has begun and not ended covers nothing.

    disk = Disk(files_before)           # {"main": b"..."}: durable
    disk.apply(entry)                   # of power_record.py, in order
    disk.cut(chance)                    # what is there after a power cut now; the disk itself goes on
    disk.now()                          # what the programs saw: every write
"""
from support.power_record import CREATE, NAMES, SYNC_BEGINS, SYNC_ENDS, TRUNCATE, UNLINK, WRITE

SECTORS = (512, 4096)
# How likely the newest content of a sector is there; one is drawn for each file and cut. 0 and 1 are the disks that lose all or nothing.
NOTHING_ARRIVED = 0
ARRIVED = (NOTHING_ARRIVED, 0.1, 0.5, 0.9, 1)


class _Change:
    """To bytes [start, end) of a file: `data`, or zeros without it. `size` is the file's afterwards."""

    def __init__(self, start, end, data, size):
        self.start = start
        self.end = end
        self.data = data
        self.size = size

    def put(self, image, start, end):
        """Its part in [start, end)."""
        start, end = max(start, self.start), min(end, self.end)
        if start < end:
            image[start:end] = bytes(end - start) if self.data is None else self.data[start - self.start:end - self.start]


class _File:
    def __init__(self, content=b""):
        self._durable = bytearray(content)
        self._size = len(content)
        self._pending = []   # changes that no completed sync covers
        self._done = 0       # changes that were ever taken off that list
        self._covered = {}   # sync that has begun -> changes before it

    def write(self, position, data):
        self._size = max(self._size, position + len(data))
        self._pending.append(_Change(position, position + len(data), data, self._size))

    def truncate(self, size):
        self._pending.append(_Change(min(size, self._size), self._size, None, size))
        self._size = size

    def sync_begins(self, number):
        self._covered[number] = self._done + len(self._pending)

    def sync_ends(self, number):
        count = max(self._covered.pop(number) - self._done, 0)  # another sync may have covered them already
        for change in self._pending[:count]:
            self._take(self._durable, change)
        del self._pending[:count]
        self._done += count

    @staticmethod
    def _take(image, change):
        if len(image) < change.size:
            image.extend(bytes(change.size - len(image)))
        change.put(image, change.start, change.end)
        del image[change.size:]

    def now(self):
        image = bytearray(self._durable)
        for change in self._pending:
            self._take(image, change)
        return bytes(image)

    def cut(self, chance, likely):
        sizes = [len(self._durable)] + [change.size for change in self._pending]
        image = bytearray(self._durable)
        new = max(sizes) - len(image)
        image += chance.randbytes(new) if chance.random() < 0.5 else bytes(new)
        sector = chance.choice(SECTORS)
        for number, changes in self._by_sector(sector).items():
            for change in changes[:_arrived(chance, likely, len(changes))]:
                change.put(image, number * sector, (number + 1) * sector)
        return bytes(image[:sizes[_arrived(chance, likely, len(self._pending))]])

    def _by_sector(self, sector):
        changes = {}
        for change in self._pending:
            for number in range(change.start // sector, -(-change.end // sector)):
                changes.setdefault(number, []).append(change)
        return changes


def _arrived(chance, likely, count):
    """How many of `count` changes to one thing have reached the disk; `likely` is the chance of all of them."""
    if count == 0 or chance.random() < likely:
        return count
    return 0 if likely == NOTHING_ARRIVED else chance.randrange(count)


class Disk:
    def __init__(self, files):
        self._files = {name: _File(content) for name, content in files.items()}  # by name, as the programs see it
        self._entries = dict(self._files)   # the folder, as it is durable
        self._pending = []                  # (name, file or None): changes to the folder
        self._done = 0
        self._covered = {}

    def apply(self, entry):
        if entry.file == "folder":
            self._sync_folder(entry)
        elif entry.kind == CREATE:
            self._files[entry.file] = _File()
            self._pending.append((entry.file, self._files[entry.file]))
        elif entry.kind == UNLINK:
            del self._files[entry.file]
            self._pending.append((entry.file, None))
        else:
            self._change(self._files[entry.file], entry)

    @staticmethod
    def _change(file, entry):
        if entry.kind == WRITE:
            file.write(entry.position, entry.data)
        elif entry.kind == TRUNCATE:
            file.truncate(entry.position)
        elif entry.kind == SYNC_BEGINS:
            file.sync_begins(entry.position)
        elif entry.kind == SYNC_ENDS:
            file.sync_ends(entry.position)
        else:
            raise AssertionError(f"an entry of an unknown kind: {entry}")

    def _sync_folder(self, entry):
        if entry.kind == SYNC_BEGINS:
            self._covered[entry.position] = self._done + len(self._pending)
            return
        assert entry.kind == SYNC_ENDS, entry
        count = max(self._covered.pop(entry.position) - self._done, 0)
        self._entries = self._names_after(self._pending[:count])
        del self._pending[:count]
        self._done += count

    def _names_after(self, changes):
        entries = dict(self._entries)
        for name, file in changes:
            if file is None:
                entries.pop(name, None)
            else:
                entries[name] = file
        return entries

    def now(self):
        return {name: file.now() for name, file in self._files.items()}

    def cut(self, chance, likely=None):
        """`likely` is one of ARRIVED, for every file; otherwise one is drawn for each."""
        def drawn():
            return chance.choice(ARRIVED) if likely is None else likely

        survived = []
        for name in NAMES:
            changes = [change for change in self._pending if change[0] == name]
            survived += changes[:_arrived(chance, drawn(), len(changes))]
        return {name: file.cut(chance, drawn()) for name, file in self._names_after(survived).items()}

"""Lives of the gateway around a power cut: one that is recorded up to its end, and one that begins on what a cut has left.

    life = record(binary, directory, files, seed)
    before = life.lines_before(cut_at)
    found = outlive(binary, directory, life.disk_at(...).cut(chance), before, chance)
"""
import random
import sqlite3
import time

from support import senders
from support.gateway import SECRETS, Gateway, config
from support.ledger import WAIT_SECONDS, Ledger, judge, read
from support.power_disk import Disk
from support.power_record import NAMES, Recorder
from support.provider_side import ProviderSide, send
from support.recorded_backend import RecordedBackend

INBOX = "inbox.db"
PATH = "/in/stripe"
# No retry waits long, and none is the last one.
DESTINATION = {"retry": {"first": "50ms", "max": "500ms", "attempts": 200}}
PADDING_MAX = 24_000   # bytes of a body: a few thousand frames, after which the log begins anew, are soon full
EVENTS_AFTER = 50      # acknowledged after the log has begun anew
LOG_HEADER = 32        # bytes; they change each time the log begins anew
AGAIN_NEWEST = 12      # of the acknowledged events the newest are sent again, they are what a cut would take first ...
AGAIN_OTHERS = 12      # ... and others
UNANSWERED = 12        # of the events that were sent and not acknowledged: their provider tries again
NEW = 5                # events that nobody has sent before
DETAILS_NEWEST = 50    # of the requests at the backend before the cut; their events are looked at in full


class StampedLedger(Ledger):
    """Each line with the time at which it was written, by the clock of the record."""

    def write(self, what, **fields):
        super().write(what, at=time.monotonic_ns(), **fields)


def message(key):
    """The same for the same key: a provider's retry has the same body."""
    return senders.stripe(SECRETS["stripe"], key, body=senders.stripe_body(key, padding="x" * random.Random(key).randrange(PADDING_MAX)))


def put_files(directory, files):
    directory.mkdir()
    for name, content in files.items():
        (directory / (INBOX + NAMES[name])).write_bytes(content)


def get_files(directory):
    paths = {name: directory / (INBOX + suffix) for name, suffix in NAMES.items()}
    return {name: path.read_bytes() for name, path in paths.items() if path.exists()}


def new_inbox(binary, directory):
    """The files of an inbox without an event."""
    directory.mkdir()
    with Gateway(binary, directory, config("http://127.0.0.1:9/", "stripe")):
        pass
    return get_files(directory)


class Life:
    """A gateway's life on `files`: the entries of its record, and the lines of the ledger."""

    def __init__(self, files, past, entries, lines, ready_at, stopped_at):
        self.files = files
        self.past = past              # lines of the lives before
        self.entries = entries
        self.lines = lines
        self.ready_at = ready_at      # nanoseconds, as are the entries'
        self.stopped_at = stopped_at  # when it was told to stop

    def lines_before(self, cut):
        """What had happened when the power was cut just before the entry of this number, or at the end."""
        if cut == len(self.entries):
            return self.past + self.lines
        return self.past + [line for line in self.lines if line["at"] < self.entries[cut].at]

    def disks(self, cuts):
        """(cut, disk) for each of the cuts, which are in order."""
        disk = Disk(self.files)
        done = 0
        for cut in cuts:
            for entry in self.entries[done:cut]:
                disk.apply(entry)
            done = cut
            yield cut, disk


def record(binary, directory, files, seed, *, events, past=(), first=1, swallow=None):
    """A life until `events` were acknowledged and the log has begun anew. `first` is the number of its first event."""
    put_files(directory, files)
    recorder = Recorder(directory, directory / INBOX, swallow)
    ledger = StampedLedger(directory / "ledger.jsonl")
    with RecordedBackend(ledger, seed) as backend, ProviderSide(ledger, PATH, message, seed, first=first) as provider:
        tables = config(backend.url, "stripe", destination=DESTINATION)
        with Gateway(binary, directory, tables, environment=recorder.environment) as gateway:
            ready_at = time.monotonic_ns()
            provider.point_at(gateway.ingest)
            _wait(ledger, gateway, events)
            stopped_at = time.monotonic_ns()
        provider.point_at(None)
    ledger.close()
    life = Life(files, list(past), recorder.entries(), read(ledger.path), ready_at, stopped_at)
    (_, disk), = life.disks([len(life.entries)])
    assert disk.now() == get_files(directory), "the record is not all that was done to the files"
    return life


def _wait(ledger, gateway, events):
    def header():
        with open(gateway.directory / (INBOX + NAMES["log"]), "rb") as log:
            return log.read(LOG_HEADER)

    assert ledger.wait_for(lambda: ledger.acknowledged > 0), gateway.log()
    before = header()
    assert ledger.wait_for(lambda: ledger.acknowledged >= events and header() != before), gateway.log()
    enough = ledger.acknowledged + EVENTS_AFTER
    assert ledger.wait_for(lambda: ledger.acknowledged >= enough), gateway.log()


def outlive(binary, directory, files, before, chance):
    """A life on what a power cut has left, until nothing is left to do: the faults, by name, and the lines of the whole story."""
    put_files(directory, files)
    ledger = Ledger(directory / "ledger.jsonl")
    unfit = None
    with RecordedBackend(ledger, 0) as backend:
        backend.heal()
        try:
            with Gateway(binary, directory, config(backend.url, "stripe", destination=DESTINATION)) as gateway:
                _send_all(ledger, gateway, _keys(before, chance))
                gateway.wait_until(lambda: not gateway.events(state="pending"))
                _show(gateway, ledger, before)
        except (AssertionError, OSError) as error:
            unfit = str(error)
    ledger.close()
    lines = before + [{"what": "power cut"}] + read(ledger.path)
    faults = judge(lines)
    damage = _damage(directory / INBOX)
    if damage:
        faults["damaged"] = damage
    if unfit is not None:
        faults["unfit to serve"] = [unfit]
    return faults, lines


def _send_all(ledger, gateway, keys):
    end = time.monotonic() + WAIT_SECONDS
    for key in keys:
        while not send(ledger, gateway.ingest, PATH, message(key), key):
            assert time.monotonic() < end, gateway.log()  # until then, a 503 asks to come again


def _keys(before, chance):
    """What providers send after the cut."""
    acknowledged = list(dict.fromkeys(line["key"] for line in before if line["what"] == "acknowledged"))
    known = set(acknowledged)
    unanswered = list(dict.fromkeys(line["key"] for line in before if line["what"] == "sent" and line["key"] not in known))
    older = acknowledged[:-AGAIN_NEWEST]
    return (acknowledged[-AGAIN_NEWEST:] + chance.sample(older, min(AGAIN_OTHERS, len(older))) + unanswered[-UNANSWERED:]
            + [f"evt_new_{number}" for number in range(NEW)])


def _show(gateway, ledger, before):
    """The gateway's account: of every event its state, and the attempts of those that the cut came close to."""
    newest = [line["key"] for line in before if line["what"] == "delivered"][-DETAILS_NEWEST:]
    for item in gateway.all_events():
        attempts = None
        if item["key"] in newest:
            delivery, = gateway.event(item["id"])["deliveries"]
            attempts = [[attempt["number"], attempt["outcome"]] for attempt in delivery["attempts"]]
        ledger.write("shown", key=item["key"], event=item["id"], state=item["state"], attempts=attempts)


def _damage(path):
    database = sqlite3.connect(path)
    try:
        found = [row[0] for row in database.execute("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    finally:
        database.close()
    return [] if found == ["ok"] else found


def acknowledged(lines):
    return len({line["key"] for line in lines if line["what"] == "acknowledged"})

"""What really happened, written by the driver and never by the program under test; and the judge that reads it.

A ledger is a file of JSON lines that is only ever appended to, by several processes at once if need be. Every line has "what":

    sent          key                            a request is about to leave
    answered      key, status                    an answer that acknowledges nothing
    acknowledged  key, verdict, event            a 2xx came; both are null where the receiver says neither
    delivered     key, event, attempt, status    a request at the backend and its answer; null: none was given
    shown         key, event, state, attempts    at the end: the gateway's own account; attempts [[number, outcome], ...], null: not asked
    killed, stopped, continued  moment           what was done to a process, for people who read the file
    power cut                                    what stands before it happened before it

    ledger = Ledger(tmp_path / "ledger.jsonl")
    ...
    assert judge(read(ledger.path)) == {}
"""
import json
import os
import threading

WAIT_SECONDS = 120  # a bound for a broken program, never a pace
COME_AGAIN = 503    # the one answer that asks a provider to come again


class Ledger:
    """Appends, and knows what is still owed. Thread-safe."""

    def __init__(self, path):
        self.path = path
        # O_APPEND and one write a line: the lines of several processes never mix.
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._changed = threading.Condition()
        self.acknowledged = 0    # 2xx answers
        self._took_effect = set()
        self.owed = set()        # acknowledged keys without an effect so far

    def close(self):
        os.close(self._file)

    def write(self, what, **fields):
        os.write(self._file, json.dumps({"what": what, **fields}).encode() + b"\n")

    def sent(self, key):
        self.write("sent", key=key)

    def answered(self, key, status):
        self.write("answered", key=key, status=status)

    def acknowledge(self, key, verdict, event):
        with self._changed:
            self.write("acknowledged", key=key, verdict=verdict, event=event)
            self.acknowledged += 1
            if key not in self._took_effect:
                self.owed.add(key)
            self._changed.notify_all()

    def delivered(self, key, event, attempt, status):
        with self._changed:
            self.write("delivered", key=key, event=event, attempt=attempt, status=status)
            if is_success(status):
                self._took_effect.add(key)
                self.owed.discard(key)
            self._changed.notify_all()

    def wait_for(self, condition, seconds=WAIT_SECONDS):
        """Until `condition` of this ledger holds; whether it does."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_success(status):
    return status is not None and 200 <= status < 300


class _Story:
    """All lines of one key."""

    def __init__(self):
        self.sent = []
        self.answered = []
        self.acknowledged = []
        self.delivered = []
        self.shown = []

    def add(self, line):
        getattr(self, line["what"]).append(line)

    def events(self):
        """Every event id that anybody has named."""
        return {line["event"] for line in self.acknowledged + self.delivered + self.shown if line["event"] is not None}

    def effects(self):
        return sum(1 for line in self.delivered if is_success(line["status"]))

    def histories(self):
        """(state, attempts by number) of each event whose attempts were asked for."""
        return [(line["state"], sorted(map(tuple, line["attempts"]))) for line in self.shown if line["attempts"] is not None]


def _lost(story):
    return bool(story.acknowledged) and not story.effects()


def _accepted_twice(story):
    return len(story.events()) > 1 or sum(1 for line in story.acknowledged if line["verdict"] == "accepted") > 1


def _forgotten(story):
    shown = {line["event"] for line in story.shown}
    return any(line["event"] is not None and line["event"] not in shown for line in story.acknowledged)


def _stuck(story):
    return any(line["state"] != "delivered" for line in story.shown)


def _invented(story):
    return not story.sent


def _attempt_repeated(story):
    numbers = [(line["event"], line["attempt"]) for line in story.delivered if line["attempt"] is not None]
    return len(numbers) != len(set(numbers))


def _success_invented(story):
    taken = {line["attempt"] for line in story.delivered if is_success(line["status"])}
    return any(outcome == "success" and number not in taken for _, attempts in story.histories() for number, outcome in attempts)


def _overturned(story):
    """Delivered, but not by its newest attempt: the outcome of an attempt that had been replaced was taken, or one was never recorded."""
    return any(state == "delivered" and (not attempts or attempts[-1][1] != "success") for state, attempts in story.histories())


def _attempt_without_outcome(story):
    return any(outcome is None for _, attempts in story.histories() for _, outcome in attempts)


def _sent_after_success(story):
    return any(outcome == "success" for _, attempts in story.histories() for _, outcome in attempts[:-1])


def _refused(story):
    return any(line["status"] != COME_AGAIN for line in story.answered)


FAULTS = {
    "lost": _lost,                        # acknowledged, and no request with it has succeeded at the backend
    "accepted twice": _accepted_twice,    # one key, two events, or two answers that both claim to be the first
    "forgotten": _forgotten,              # acknowledged under an id that the gateway does not show
    "stuck": _stuck,                      # not delivered although everything was healthy for long enough
    "invented": _invented,                # nobody has sent it
    "attempt repeated": _attempt_repeated,
    "success invented": _success_invented,
    "overturned": _overturned,
    "attempt without outcome": _attempt_without_outcome,
    "sent after success": _sent_after_success,
    "refused": _refused,                  # an answer that is neither 2xx nor "come again"
}


def _stories(lines):
    stories = {}
    for line in lines:
        if "key" in line:
            stories.setdefault(line["key"], _Story()).add(line)
    return stories


def judge(lines):
    """The keys of each fault that the ledger shows, by the fault's name; {} where all is well. A pure function."""
    stories = _stories(lines)
    # Where a process stood still for longer than a lease, the success of a replaced attempt may come late and is shown as what it was.
    stood_still = any(line["what"] == "stopped" and line.get("past_lease") for line in lines)
    found = {}
    for name, is_fault in FAULTS.items():
        if is_fault is _sent_after_success and stood_still:
            continue
        keys = sorted(key for key, story in stories.items() if is_fault(story))
        if keys:
            found[name] = keys
    return found


def figures(lines):
    """What a person wants to know of a ledger in which nothing is wrong."""
    stories = _stories(lines).values()
    return {
        "acknowledged": sum(1 for story in stories if story.acknowledged),
        "answers": sum(len(story.acknowledged) for story in stories),
        "requests": sum(len(story.sent) for story in stories),
        "kills": sum(1 for line in lines if line["what"] == "killed"),
        "doubles": sum(max(story.effects() - 1, 0) for story in stories),
    }


def explain(lines, keys, limit=3):
    """The whole story of the first few keys, for the message of a failed assertion."""
    chosen = set(keys[:limit])
    return "\n".join(json.dumps(line) for line in lines if line.get("key") in chosen)

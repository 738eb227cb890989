"""The judge can find what it looks for: each ledger here has one fault, and the one without a fault has none."""
import pytest

from support.ledger import FAULTS, Ledger, figures, judge, read


def sent(key="evt"):
    return {"what": "sent", "key": key}


def acknowledged(verdict="accepted", event="e1", key="evt"):
    return {"what": "acknowledged", "key": key, "verdict": verdict, "event": event}


def delivered(attempt=1, status=200, event="e1", key="evt"):
    return {"what": "delivered", "key": key, "event": event, "attempt": attempt, "status": status}


def shown(*attempts, state="delivered", event="e1", key="evt"):
    return {"what": "shown", "key": key, "event": event, "state": state, "attempts": list(attempts) or [[1, "success"]]}


KILLED = {"what": "killed", "moment": "load"}
POWER_CUT = {"what": "power cut"}
STOPPED = {"what": "stopped", "past_lease": True}

FAULTLESS = {
    "once": [sent(), acknowledged(), delivered(), shown()],
    "the first answer was lost": [sent(), KILLED, sent(), acknowledged("duplicate"), delivered(), shown()],
    "copies": [sent(), sent(), acknowledged("duplicate"), acknowledged(), delivered(), shown()],
    "retried after a failure": [sent(), acknowledged(), delivered(1, 500), delivered(2), shown([1, "failed"], [2, "success"])],
    "a double after a kill": [sent(), acknowledged(), delivered(), KILLED, delivered(2), shown([1, "unknown"], [2, "success"])],
    "a late success is shown": [sent(), acknowledged(), STOPPED, delivered(), delivered(2), shown([1, "success"], [2, "success"])],
    "never acknowledged, never stored": [sent(), KILLED],
    "never acknowledged, but stored": [sent(), KILLED, delivered(), shown()],
    "asked to come again": [sent(), {"what": "answered", "key": "evt", "status": 503}, sent(), acknowledged(), delivered(), shown()],
    "a receiver without verdicts": [sent(), acknowledged(None, None), delivered(None, 200, None)],
    "a double after a power cut": [sent(), acknowledged(), delivered(), POWER_CUT, delivered(2), shown([1, "unknown"], [2, "success"])],
    "attempts not asked for": [sent(), acknowledged(), delivered(), {**shown(), "attempts": None}],
}

FAULTY = {
    "acknowledged, and gone": ("lost", [sent(), acknowledged(None, None), KILLED]),
    "acknowledged, and never answered 2xx": ("lost", [sent(), acknowledged(None, None), delivered(None, 500, None)]),
    "two answers claim to be the first": ("accepted twice", [sent(), acknowledged(), acknowledged(), delivered(), shown()]),
    "a duplicate of another event": ("accepted twice", [sent(), acknowledged(), acknowledged("duplicate", "e2"), delivered(), shown(),
                                                        shown(event="e2")]),
    "two events stored": ("accepted twice", [sent(), acknowledged(), delivered(), shown(), shown(event="e2")]),
    "two events delivered": ("accepted twice", [sent(), acknowledged(), delivered(), delivered(event="e2"), shown()]),
    "not in the list": ("forgotten", [sent(), acknowledged(), delivered()]),
    "still pending": ("stuck", [sent(), acknowledged(), delivered(), shown([1, "unknown"], state="pending")]),
    "given up": ("stuck", [sent(), acknowledged(), delivered(), shown([1, "unknown"], state="dead")]),
    "out of nowhere": ("invented", [delivered(), shown()]),
    "one attempt sent twice": ("attempt repeated", [sent(), acknowledged(), delivered(), delivered(), shown()]),
    "one attempt sent twice after a power cut": ("attempt repeated", [sent(), acknowledged(), delivered(), POWER_CUT, delivered(), shown()]),
    "a success that nobody gave": ("success invented", [sent(), acknowledged(), delivered(1), delivered(2, 500), shown([2, "success"])]),
    "a replaced attempt decides": ("overturned", [sent(), acknowledged(), STOPPED, delivered(), delivered(2, 500),
                                                  shown([1, "success"], [2, "failed"])]),
    "an attempt that nobody settled": ("attempt without outcome", [sent(), acknowledged(), delivered(1, None), delivered(2),
                                                                   shown([1, None], [2, "success"])]),
    "sent although it had succeeded": ("sent after success", [sent(), acknowledged(), delivered(), delivered(2),
                                                              shown([1, "success"], [2, "success"])]),
    "refused": ("refused", [sent(), {"what": "answered", "key": "evt", "status": 500}]),
}


@pytest.mark.parametrize("name", FAULTLESS)
def test_the_judge_finds_nothing_where_nothing_is_wrong(name):
    assert judge(FAULTLESS[name]) == {}


@pytest.mark.parametrize("name", FAULTY)
def test_the_judge_finds_the_one_fault(name):
    fault, lines = FAULTY[name]
    assert judge(lines) == {fault: ["evt"]}


def test_every_fault_has_a_ledger_that_shows_it():
    assert {fault for fault, _ in FAULTY.values()} == set(FAULTS)


def test_one_lost_event_is_found_among_many_that_are_well():
    lines = [line for number in range(100) for line in (sent(f"evt_{number}"), acknowledged(event=f"e{number}", key=f"evt_{number}"),
                                                        delivered(event=f"e{number}", key=f"evt_{number}"))]
    lines += [sent("evt_gone"), acknowledged(event="e_gone", key="evt_gone")]
    lines += [shown(event=f"e{number}", key=f"evt_{number}") for number in range(100)]
    assert judge(lines) == {"lost": ["evt_gone"], "forgotten": ["evt_gone"]}


def test_a_ledger_reads_back_as_it_was_written_and_counts(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.sent("evt")
    ledger.acknowledge("evt", "accepted", "e1")
    assert ledger.owed == {"evt"}
    ledger.delivered("evt", "e1", 1, 500)
    assert ledger.owed == {"evt"}
    ledger.delivered("evt", "e1", 2, 200)
    ledger.write("killed", moment="load")
    ledger.delivered("evt", "e1", 3, 200)
    assert ledger.owed == set()
    ledger.close()
    lines = read(ledger.path)
    assert lines == [sent(), acknowledged(), delivered(1, 500), delivered(2), KILLED, delivered(3)]
    assert figures(lines) == {"acknowledged": 1, "answers": 1, "requests": 1, "kills": 1, "doubles": 1}

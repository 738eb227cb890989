"""The load generator against a backend that looks closely: what it sends, what it counts, and that an open loop hides no waiting."""
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test"))
from support.backend import Backend  # noqa: E402 (needs the path above)

SECRET = "whsec_bench"
BINARY = pathlib.Path(os.environ.get("HOOKONCE_BINARY", ROOT / "build/release/hookonce"))
GENERATOR = BINARY.resolve().parent / "bench" / "hookonce_bench"
STALL_SECONDS = 0.3

pytestmark = pytest.mark.skipif(not GENERATOR.exists(), reason="the load generator is not built (HOOKONCE_BENCH)")


def generate(backend, **options):
    command = [str(GENERATOR), "--port", backend.address.rsplit(":", 1)[1], "--secret", SECRET, "--seconds", "60"]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def as_gateway(request, nth):
    return 200, [("Hookonce-Status", "accepted" if nth == 1 else "duplicate")], b"{}"


def digest(data):
    return hmac.new(SECRET.encode(), data, hashlib.sha256).hexdigest()


def test_every_request_is_signed_and_every_tenth_repeats_an_earlier_event():
    with Backend() as backend:
        backend.answer_with(as_gateway)
        report = generate(backend, events=200, connections=4, duplicate_every=10)
        requests = backend.wait_for(200)
    assert (report["answers"], report["ok"], report["accepted"], report["duplicates"]) == (200, 200, 181, 19)
    assert len({request.provider_id for request in requests}) == 181
    for request in requests:
        sent_at, signature = request.header("Stripe-Signature").split(",")
        assert signature == "v1=" + digest(sent_at[len("t="):].encode() + b"." + request.body)
        assert len(request.body) == 1536


def test_the_plain_scheme_signs_the_body_alone():
    with Backend() as backend:
        report = generate(backend, events=3, connections=1, scheme="body")
        requests = backend.wait_for(3)
    assert report["ok"] == 3
    assert [request.header("X-Signature") for request in requests] == ["sha256=" + digest(r.body) for r in requests]


def test_what_became_due_while_the_target_stood_still_counts_as_waiting():
    stand_still = threading.Event()  # never set: its wait is the standstill

    def answer(request, nth):
        if len(backend.requests) == 20:
            stand_still.wait(STALL_SECONDS)
        return 200

    with Backend() as backend:
        backend.answer_with(answer)
        report = generate(backend, events=400, connections=1, rate=1000)
    assert report["ok"] == 400
    assert report["max_ms"] >= STALL_SECONDS * 1000
    # 250 requests became due in the time above 50 ms; a closed loop would have seen one late answer.
    late = sum(stall["answers"] for stall in report["stalls"])
    assert late >= 200
    assert max(stall["ended"] - stall["begun"] for stall in report["stalls"]) >= STALL_SECONDS


def test_an_answer_that_is_none_is_counted_and_the_connection_opened_anew():
    with Backend() as backend:
        backend.answer_with(lambda request, nth: None if len(backend.requests) == 5 else 500)
        report = generate(backend, events=20, connections=1)
    assert (report["broken"], report["ok"], report["other"]) == (1, 0, 19)

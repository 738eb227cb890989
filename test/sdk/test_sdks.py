"""The official SDKs sign what is sent and verify what is delivered, unmodified and with their own tolerances."""
import json
import subprocess

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

# source -> (language, SDK); Bolt has no signer, and GitHub's SDK is Octokit.
SIGNERS = {"stripe": [("node", "stripe"), ("python", "stripe")],
           "slack": [("python", "slack_sdk")],
           "github": [("node", "octokit")],
           "standard_webhooks": [("node", "standardwebhooks"), ("python", "standardwebhooks")]}
VERIFIERS = {"stripe": [("node", "stripe"), ("python", "stripe")],
             "slack": [("node", "bolt"), ("python", "slack_sdk")],
             "github": [("node", "octokit")],
             "standard_webhooks": [("node", "standardwebhooks"), ("python", "standardwebhooks")]}
SIGNED = [(source, language, sdk) for source, signers in SIGNERS.items() for language, sdk in signers]
TEXT = "caf\u00e9 \u4f60\u597d \U0001f600 \\/ \u2028"
BODIES = {"stripe": lambda event_id: senders.stripe_body(event_id, note=TEXT),
          "slack": lambda event_id: senders.slack_body(event_id, text=TEXT),
          "github": lambda event_id: json.dumps({"ref": "refs/heads/main", "note": TEXT}).encode(),
          "standard_webhooks": lambda event_id: json.dumps({"type": "contact.created", "note": TEXT}, ensure_ascii=False).encode()}
SECOND_SECRETS = {"stripe": "whsec_second0000000000000000000000",
                  "standard_webhooks": "whsec_c2Vjb25kLXNlY3JldC1mb3ItdGVzdHMtb25seQ=="}


def verdicts(sdks, source, request, secret=None, headers=None, body=None):
    """What each of the source's SDKs says: None where it accepts."""
    return {(language, sdk): sdks[language].verify(sdk, secret or SECRETS[source], headers or request.headers, body or request.body)
            for language, sdk in VERIFIERS[source]}


def accepted_by_all(source):
    return {verifier: None for verifier in VERIFIERS[source]}


@pytest.mark.parametrize("source, language, sdk", SIGNED)
def test_what_an_sdk_signs_is_accepted_and_what_is_delivered_its_sdks_verify(sdks, gateway, backend, source, language, sdk):
    event_id = f"id_{language}_{sdk}"
    sent = sdks[language].sign(sdk, SECRETS[source], event_id, BODIES[source](event_id))
    answer = post(gateway.ingest, f"/in/{source}", sent)
    assert (answer.status, answer.header("Hookonce-Status")) == (200, "accepted"), answer
    event = gateway.wait_for_state(answer.json()["id"], "delivered")
    assert event["key"] == event_id
    delivered = backend.requests[0]
    assert delivered.body == sent[1]
    assert verdicts(sdks, source, delivered) == accepted_by_all(source)
    assert None not in verdicts(sdks, source, delivered, body=delivered.body + b" ").values(), "an SDK that accepts anything shows nothing"


@pytest.mark.parametrize("source, language, sdk", SIGNED)
def test_an_sdk_with_another_secret_is_refused(sdks, gateway, backend, source, language, sdk):
    secret = SECOND_SECRETS.get(source, "another-secret")
    answer = post(gateway.ingest, f"/in/{source}", sdks[language].sign(sdk, secret, "id_forged", BODIES[source]("id_forged")))
    assert (answer.status, answer.code) == (401, "signature_mismatch")
    assert gateway.events() == [] and backend.requests == []


@pytest.mark.parametrize("source", ["stripe", "slack", "standard_webhooks"])
def test_the_sdks_accept_a_delivery_made_ten_minutes_after_the_event_was_signed(sdks, later, later_sdks, start, backend, source):
    """The backend refuses until the gateway has been restarted with its clock, and the SDKs', ten minutes on."""
    backend.answer_with(lambda request, nth: 503)
    gateway = start(config(backend.url, source, destination={"retry": {"first": "100ms", "max": "1s", "attempts": 50}}))
    language, sdk = SIGNERS[source][0]
    sent = sdks[language].sign(sdk, SECRETS[source], "id_late", BODIES[source]("id_late"))
    answer = post(gateway.ingest, f"/in/{source}", sent)
    assert answer.status == 200, answer
    backend.wait_for(1)
    gateway.stop()
    refused = len(backend.requests)
    backend.answer_with(lambda request, nth: 200)
    gateway.environment.update(later)
    gateway.start()
    gateway.wait_for_state(answer.json()["id"], "delivered")
    first, last = backend.requests[0], backend.requests[refused]
    assert last.header("Idempotency-Key") == first.header("Idempotency-Key")
    assert verdicts(later_sdks, source, last) == accepted_by_all(source)
    assert None not in verdicts(later_sdks, source, first).values(), "the attempt of ten minutes ago is too old for them"
    assert None not in verdicts(later_sdks, source, None, headers=sent[0], body=sent[1]).values()


@pytest.mark.parametrize("source, sdk, path_id", [("slack", "bolt", "event"), ("github", "octokit", "delivery")])
def test_a_real_application_of_the_sdk_takes_the_delivery(sdks, start, source, sdk, path_id):
    url = sdks["node"].ask(do="listen", sdk=sdk, secret=SECRETS[source])["url"]
    gateway = start(config(url, source, destination={"retry": {"first": "50ms", "attempts": 2}}))
    event_id = f"id_application_{path_id}"
    language, signer = SIGNERS[source][0]
    answer = post(gateway.ingest, f"/in/{source}", sdks[language].sign(signer, SECRETS[source], event_id, BODIES[source](event_id)))
    event = gateway.wait_for_state(answer.json()["id"], "delivered")
    assert [attempt["outcome"] for attempt in event["deliveries"][0]["attempts"]] == ["success"]
    gateway.wait_until(lambda: event_id in sdks["node"].ask(do="received", sdk=sdk)["ids"])


@pytest.mark.parametrize("source", ["stripe", "standard_webhooks"])
def test_while_a_secret_is_rotated_the_sdks_accept_with_either(sdks, start, backend, source):
    both = [SECOND_SECRETS[source], SECRETS[source]]
    gateway = start(config(backend.url, source, source={"secrets": both}))
    language, sdk = SIGNERS[source][0]
    answer = post(gateway.ingest, f"/in/{source}", sdks[language].sign(sdk, SECRETS[source], "id_rotated", BODIES[source]("id_rotated")))
    gateway.wait_for_state(answer.json()["id"], "delivered")
    for secret in both:
        assert verdicts(sdks, source, backend.requests[0], secret=secret) == accepted_by_all(source)


def test_standardwebhooks_verifies_a_delivery_signed_with_the_destinations_secrets(sdks, start, backend):
    secrets = [SECRETS["standard_webhooks"], SECOND_SECRETS["standard_webhooks"]]
    gateway = start(config(backend.url, "stripe", destination={"secrets": secrets}))
    answer = post(gateway.ingest, "/in/stripe", sdks["node"].sign("stripe", SECRETS["stripe"], "evt_own", BODIES["stripe"]("evt_own")))
    gateway.wait_for_state(answer.json()["id"], "delivered")
    delivered = backend.requests[0]
    assert delivered.header("Webhook-Id") == delivered.header("Idempotency-Key")
    for secret in secrets:
        assert verdicts(sdks, "standard_webhooks", delivered, secret=secret) == accepted_by_all("standard_webhooks")
    assert verdicts(sdks, "stripe", delivered) == accepted_by_all("stripe")


@pytest.mark.parametrize("source", sorted(VERIFIERS))
def test_what_send_makes_the_sdks_verify(sdks, binary, backend, source):
    result = subprocess.run([binary, "send", source, "--to", backend.url, "--secret", SECRETS[source]], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == 0, result
    assert verdicts(sdks, source, backend.requests[0]) == accepted_by_all(source)

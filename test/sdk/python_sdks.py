"""The official Python SDKs as one process, with the requests and answers of node_sdks.mjs: `sign` and `verify`, one JSON line each.

Nothing here computes or compares a signature: the SDKs do, with their own tolerances.
"""
import base64
import datetime
import json
import sys
import time

import standardwebhooks
import stripe
from slack_sdk.signature import SignatureVerifier


def sign_slack(secret, body, **_):
    now = str(int(time.time()))
    return {"X-Slack-Request-Timestamp": now,
            "X-Slack-Signature": SignatureVerifier(secret).generate_signature(timestamp=now, body=body)}


def sign_standard_webhook(secret, body, id, **_):
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"webhook-id": id, "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": standardwebhooks.Webhook(secret).sign(id, now, body.decode())}


def verify_slack(secret, body, headers):
    if not SignatureVerifier(secret).is_valid_request(body, headers):
        raise ValueError("not a valid request")


SIGNERS = {
    "stripe": lambda secret, body, **_: {"Stripe-Signature": stripe.WebhookSignature.generate_signature_header(body.decode(), secret)},
    "slack_sdk": sign_slack,
    "standardwebhooks": sign_standard_webhook,
}

# Each raises where its SDK refuses.
VERIFIERS = {
    "stripe": lambda secret, body, headers: stripe.Webhook.construct_event(body, headers.get("stripe-signature"), secret),
    "slack_sdk": verify_slack,
    "standardwebhooks": lambda secret, body, headers: standardwebhooks.Webhook(secret).verify(body, headers),
}


def answer(request):
    body = base64.b64decode(request["body"])
    if request["do"] == "sign":
        return {"headers": SIGNERS[request["sdk"]](secret=request["secret"], body=body, id=request["id"])}
    try:
        VERIFIERS[request["sdk"]](request["secret"], body, request["headers"])
    except Exception as refusal:  # whatever the SDK raises is its verdict; the tests show its words
        return {"accepted": False, "why": f"{type(refusal).__name__}: {refusal}"}
    return {"accepted": True}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)

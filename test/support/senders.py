"""What providers send, made without the program under test: bodies, signatures and headers from the protocol's own rules.

Every function returns (headers, body) with headers as a list of pairs and body as bytes.
"""
import base64
import hashlib
import hmac
import json
import time
import urllib.parse


def _hmac_hex(secret, message, digest="sha256"):
    return hmac.new(secret.encode(), message, digest).hexdigest()


def stripe_body(event_id, event_type="invoice.paid", **extra):
    return json.dumps({"id": event_id, "object": "event", "type": event_type, "created": 1790000000, "livemode": False,
                       "data": {"object": {"id": "in_sample", "customer": "cus_sample", "amount_paid": 2000}}, **extra},
                      indent=2, ensure_ascii=False).encode()


def stripe(secret, event_id, event_type="invoice.paid", body=None, at=None, secrets=None):
    """Signed with `secret`, or once with each of `secrets` as during a rotation."""
    body = stripe_body(event_id, event_type) if body is None else body
    at = int(time.time()) if at is None else at
    signatures = ",".join("v1=" + _hmac_hex(s, f"{at}.".encode() + body) for s in (secrets or [secret]))
    return [("Content-Type", "application/json; charset=utf-8"), ("Stripe-Signature", f"t={at},{signatures}")], body


def slack_body(event_id, text="hello", channel="C0001CHAN", event_type="message"):
    return json.dumps({"token": "unused", "team_id": "T0001", "api_app_id": "A0001", "type": "event_callback", "event_id": event_id,
                       "event_time": 1790000000,
                       "event": {"type": event_type, "text": text, "user": "U0001", "channel": channel, "ts": "1790000000.000100",
                                 "event_ts": "1790000000.000100"}}, ensure_ascii=False).encode()


def slack_signature(secret, body, at=None):
    at = int(time.time()) if at is None else at
    return [("X-Slack-Request-Timestamp", str(at)),
            ("X-Slack-Signature", "v0=" + _hmac_hex(secret, f"v0:{at}:".encode() + body))]


def slack(secret, event_id=None, body=None, at=None, retry=None, content_type="application/json"):
    """`retry` is (number, reason) of Slack's retry headers."""
    body = slack_body(event_id) if body is None else body
    headers = [("Content-Type", content_type)] + slack_signature(secret, body, at)
    if retry:
        headers += [("X-Slack-Retry-Num", str(retry[0])), ("X-Slack-Retry-Reason", retry[1])]
    return headers, body


def slack_command(secret, trigger, command="/deploy", response_url=None):
    """A slash command as Slack posts it: a form. `trigger` makes it one event."""
    fields = {"token": "unused", "team_id": "T0001", "channel_id": "C0001", "user_id": "U0001", "command": command, "text": "now",
              "trigger_id": trigger}
    if response_url:
        fields["response_url"] = response_url
    return slack(secret, body=urllib.parse.urlencode(fields).encode(), content_type="application/x-www-form-urlencoded")


def github(secret, delivery, event="push", body=None):
    if body is None:
        body = json.dumps({"ref": "refs/heads/main", "repository": {"id": 1, "full_name": "octo/sample"}}).encode()
    return [("Content-Type", "application/json"), ("X-GitHub-Event", event), ("X-GitHub-Delivery", delivery),
            ("X-Hub-Signature-256", "sha256=" + _hmac_hex(secret, body))], body


def standard_webhooks(secret, event_id, body=None, at=None, family="webhook"):
    body = json.dumps({"type": "contact.created", "data": {"id": "c_1"}}).encode() if body is None else body
    at = int(time.time()) if at is None else at
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = base64.b64encode(hmac.new(key, f"{event_id}.{at}.".encode() + body, hashlib.sha256).digest()).decode()
    return [("Content-Type", "application/json"), (f"{family}-id", event_id), (f"{family}-timestamp", str(at)),
            (f"{family}-signature", f"v1,{signature}")], body


def verify_standard_webhooks(secret, headers, body):
    """Whether one v1 value of a received request was made with `secret`; headers is a dict with lower-case names."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()
    return expected in headers["webhook-signature"].split(" ")

"""A webhook endpoint as it is mostly written with FastAPI: verify, remember the id in Redis, answer, work in the background.

    REDIS_URL=redis://127.0.0.1:6379/0 STRIPE_SECRET=whsec_... uvicorn app:app --workers 2

What has been answered with 200 and not handled yet is lost when the process ends.
"""
import hashlib
import hmac
import json
import os
import time

from fastapi import BackgroundTasks, FastAPI, Request, Response
from redis import asyncio as redis

SECRET = os.environ["STRIPE_SECRET"].encode()
TOLERANCE_SECONDS = 300
DEDUP_SECONDS = 3 * 24 * 3600  # for so long Stripe tries again

app = FastAPI(openapi_url=None)
keys = redis.from_url(os.environ["REDIS_URL"])


def is_signed(body, header):
    fields = [part.partition("=") for part in header.split(",")]
    sent_at = next((value for name, _, value in fields if name == "t"), "")
    signatures = [value for name, _, value in fields if name == "v1"]
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(SECRET, sent_at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


async def handle(event):
    """Where the work would be done."""


@app.post("/in/stripe")
async def receive(request: Request, background: BackgroundTasks):
    body = await request.body()
    if not is_signed(body, request.headers.get("stripe-signature", "")):
        return Response(status_code=401)
    event = json.loads(body)
    is_new = await keys.set("event:" + event["id"], 1, nx=True, ex=DEDUP_SECONDS)
    if is_new:
        background.add_task(handle, event)
    return Response(headers={"Hookonce-Status": "accepted" if is_new else "duplicate"})  # counted by the generator

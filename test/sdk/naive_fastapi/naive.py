"""Deliberately wrong: get, work, set, as with a key in a cache. Two copies at once both get nothing. Only tests use this."""
import asyncio
import json
import os

from fastapi import FastAPI, Request, Response
from slack_sdk.signature import SignatureVerifier

WORK_SECONDS = 0.02  # a mail, a call to another service

app = FastAPI()
verifier = SignatureVerifier(os.environ["SLACK_SIGNING_SECRET"])
cache = {}
counts = {}


@app.post("/slack/events")
async def events(request: Request):
    body = await request.body()
    if not verifier.is_valid_request(body, request.headers):
        return Response(status_code=401)
    event = json.loads(body)
    if cache.get(event["event_id"]):
        return Response("seen before")
    await asyncio.sleep(WORK_SECONDS)
    counts[event["event_id"]] = counts.get(event["event_id"], 0) + 1
    cache[event["event_id"]] = "done"
    return Response("done")


@app.get("/effects")
def effects():
    return counts

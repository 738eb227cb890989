"""Deliberately wrong: answers at once and works afterwards, as advised against slow answers. What dies between is lost. Only tests use this."""
import json
import os
import time
import urllib.request

from fastapi import BackgroundTasks, FastAPI, Request, Response
from slack_sdk.signature import SignatureVerifier

WORK_SECONDS = 0.02  # a mail, a call to another service

app = FastAPI()
verifier = SignatureVerifier(os.environ["SLACK_SIGNING_SECRET"])
effects_url = os.environ["EFFECTS_URL"]
seen = set()


def work(event_id):
    time.sleep(WORK_SECONDS)
    effect = urllib.request.Request(effects_url, json.dumps({"event_id": event_id}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(effect):
        pass


@app.post("/slack/events")
async def events(request: Request, background_tasks: BackgroundTasks):
    body = await request.body()
    if not verifier.is_valid_request(body, request.headers):
        return Response(status_code=401)
    event_id = json.loads(body)["event_id"]
    if event_id not in seen:
        seen.add(event_id)
        background_tasks.add_task(work, event_id)
    return {"ok": True}

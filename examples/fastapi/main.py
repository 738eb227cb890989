"""A Slack backend: the SDK's own check, then the Idempotency-Key and the work in one transaction of a SQLite file."""
import contextlib
import json
import os
import sqlite3

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from slack_sdk.signature import SignatureVerifier

DATABASE = os.environ.get("DATABASE", "tickets.sqlite3")
SCHEMA = """
CREATE TABLE IF NOT EXISTS handled (key TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS tickets (id INTEGER PRIMARY KEY, event_id TEXT NOT NULL, channel TEXT, text TEXT);
"""
BUSY_SECONDS = 20  # how long a transaction waits for the one before it

verifier = SignatureVerifier(os.environ["SLACK_SIGNING_SECRET"])


@contextlib.contextmanager
def transaction():
    """A connection in a transaction: committed at the end, rolled back where something fails."""
    connection = sqlite3.connect(DATABASE, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()  # without a commit, all of it is undone


@contextlib.asynccontextmanager
async def lifespan(_):
    with contextlib.closing(sqlite3.connect(DATABASE, timeout=BUSY_SECONDS)) as connection:
        connection.executescript(SCHEMA)
    yield


app = FastAPI(lifespan=lifespan)


@app.post("/slack/events")
async def events(request: Request):
    body = await request.body()
    # The unmodified check of the SDK: a late retry passes too, because each attempt is signed afresh.
    if not verifier.is_valid_request(body, request.headers):
        return Response(status_code=401)
    key = request.headers.get("idempotency-key")
    if not key:
        return Response("no Idempotency-Key: this is not a delivery of the gateway\n", status_code=400)
    await run_in_threadpool(handle, key, json.loads(body))
    return Response(status_code=204)  # also for what was handled before: it is done


def handle(key, event):
    with transaction() as database:
        # The insert decides. A second attempt waits for the first one's transaction, and then its row is there already.
        first = database.execute("INSERT INTO handled (key) VALUES (?) ON CONFLICT DO NOTHING", (key,)).rowcount == 1
        if first:
            open_ticket(database, event)


def open_ticket(database, envelope):
    message = envelope.get("event", {})
    database.execute("INSERT INTO tickets (event_id, channel, text) VALUES (?, ?, ?)",
                     (envelope["event_id"], message.get("channel"), message.get("text")))


@app.get("/effects")
def effects():
    """How often each event took effect, for `hookonce hammer --effects`."""
    with transaction() as database:
        return dict(database.execute("SELECT event_id, count(*) FROM tickets GROUP BY event_id").fetchall())

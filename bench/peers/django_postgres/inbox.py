"""A webhook endpoint as it is mostly written with Django: verify, insert the event with a unique id, answer. One file, no project.

    DATABASE_PORT=5432 ... STRIPE_SECRET=whsec_... gunicorn --workers 2 --threads 8 inbox:application

The event is durable before the answer; a worker that takes it from the table is not part of this.
"""
import hashlib
import hmac
import json
import os
import time

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "CONN_MAX_AGE": None,  # a connection is kept
        "HOST": os.environ["DATABASE_HOST"], "PORT": os.environ["DATABASE_PORT"], "NAME": os.environ["DATABASE_NAME"],
        "USER": os.environ["DATABASE_USER"], "PASSWORD": os.environ["DATABASE_PASSWORD"]}})
django.setup()

from django.core.handlers.wsgi import WSGIHandler  # noqa: E402 (these need the settings above)
from django.db import connection, models, transaction  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402
from django.views.decorators.http import require_POST  # noqa: E402

SECRET = os.environ["STRIPE_SECRET"].encode()
TOLERANCE_SECONDS = 300


class Event(models.Model):
    provider_id = models.CharField(max_length=255, unique=True)
    type = models.CharField(max_length=255)
    body = models.TextField()
    received_at = models.DateTimeField(auto_now_add=True)
    handled_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "inbox"


def is_signed(body, header):
    fields = [part.partition("=") for part in header.split(",")]
    sent_at = next((value for name, _, value in fields if name == "t"), "")
    signatures = [value for name, _, value in fields if name == "v1"]
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(SECRET, sent_at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


@csrf_exempt
@require_POST
def receive(request):
    body = request.body
    if not is_signed(body, request.headers.get("Stripe-Signature", "")):
        return HttpResponse(status=401)
    event = json.loads(body)
    with transaction.atomic():
        _, created = Event.objects.get_or_create(
            provider_id=event["id"], defaults={"type": event["type"], "body": body.decode()})
    answer = HttpResponse()
    answer["Hookonce-Status"] = "accepted" if created else "duplicate"  # counted by the generator
    return answer


def create_tables():
    with connection.schema_editor() as editor:
        editor.create_model(Event)


urlpatterns = [path("in/stripe", receive)]
application = WSGIHandler()

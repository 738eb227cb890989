"""Deliberately wrong: looks the event up, works, then inserts. Two copies at once both find nothing. Only tests use this.

Everything else is as in a real backend: Django's own request handling, the SDK's check, a database.
"""
import json
import os
import time

import django
import stripe
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, SECRET_KEY="unused", USE_TZ=True, INSTALLED_APPS=[],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "naive.sqlite3", "OPTIONS": {"timeout": 20}}})
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402

WORK_SECONDS = 0.02  # a mail, a call to another service


class Processed(models.Model):
    event_id = models.CharField(max_length=255, db_index=True)

    class Meta:
        app_label = "naive"


class Effect(models.Model):
    event_id = models.CharField(max_length=255)

    class Meta:
        app_label = "naive"


with connection.schema_editor() as editor:
    editor.create_model(Processed)
    editor.create_model(Effect)
connection.close()


@csrf_exempt
def webhook(request):
    stripe.Webhook.construct_event(request.body, request.headers.get("Stripe-Signature"), os.environ["STRIPE_WEBHOOK_SECRET"])
    event = json.loads(request.body)
    if Processed.objects.filter(event_id=event["id"]).exists():
        return HttpResponse("seen before")
    time.sleep(WORK_SECONDS)
    Effect.objects.create(event_id=event["id"])
    Processed.objects.create(event_id=event["id"])
    return HttpResponse("done")


def effects(request):
    counts = Effect.objects.values_list("event_id").annotate(times=models.Count("id"))
    return JsonResponse(dict(counts))


urlpatterns = [path("webhook/", webhook), path("effects", effects)]
application = get_wsgi_application()

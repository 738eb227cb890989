"""The receiver's half: the key and the work in one transaction."""
import json

import stripe
from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.http import HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from payments.models import Handled, Payment


@csrf_exempt
@require_POST
def webhook(request):
    try:
        # The unmodified check of the SDK: a late retry passes too, because each attempt is signed afresh.
        stripe.Webhook.construct_event(request.body, request.headers.get("Stripe-Signature"), settings.STRIPE_WEBHOOK_SECRET)
    except (ValueError, stripe.SignatureVerificationError):
        return HttpResponse(status=401)
    key = request.headers.get("Idempotency-Key")
    if not key:
        return HttpResponse("no Idempotency-Key: this is not a delivery of the gateway\n", status=400)

    with transaction.atomic():
        # The insert decides. A second attempt waits here until the first one's transaction has ended, and then finds its key.
        _, first = Handled.objects.get_or_create(key=key)
        if first:
            take_effect(json.loads(request.body))
    return HttpResponse(status=204)  # also for what was handled before: it is done


def take_effect(event):
    if event["type"] != "invoice.paid":
        return
    invoice = event["data"]["object"]
    Payment.objects.create(event_id=event["id"], customer=invoice.get("customer") or "", amount=invoice.get("amount_paid") or 0)


@require_GET
def effects(request):
    """How often each event took effect, for `hookonce hammer --effects`."""
    rows = Payment.objects.values_list("event_id").annotate(times=Count("id"))
    return JsonResponse(dict(rows))

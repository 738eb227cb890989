from django.db import models


class Handled(models.Model):
    """One row for each delivery whose work is done. Its key is the Idempotency-Key; that it is unique is what decides."""

    key = models.CharField(max_length=80, primary_key=True)
    at = models.DateTimeField(auto_now_add=True)


class Payment(models.Model):
    """The effect: what must exist once for each paid invoice."""

    event_id = models.CharField(max_length=255, db_index=True)
    customer = models.CharField(max_length=255)
    amount = models.BigIntegerField()

"""Settings of the example: a SQLite file in the working directory, secrets from the environment."""
import os

SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "only-for-this-example")
STRIPE_WEBHOOK_SECRET = os.environ["STRIPE_WEBHOOK_SECRET"]

ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["payments"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("DATABASE", "payments.sqlite3"),
        # SQLite only: a transaction that reads before it writes would fail where another one wrote meanwhile.
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
    }
}

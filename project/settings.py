"""The one settings file; the environment is read once, here."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from apps.core import environment
from apps.core.keys import KeyRing

ENV = os.environ
BASE_DIR = Path(__file__).resolve().parent.parent


def _flag(name: str, default: bool = False) -> bool:
    return ENV.get(name, "1" if default else "").strip().lower() in {"1", "true", "yes", "on"}


# --- Where Sayso runs -------------------------------------------------------------------------------------------------
SAYSO_DATA_DIR = Path(ENV.get("SAYSO_DATA_DIR", BASE_DIR / "data")).resolve()
# The database is everybody's calendars and sign-ins: a folder made here is for the server's user only.
SAYSO_DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
SAYSO_HOST = ENV.get("SAYSO_HOST", "").strip() or "127.0.0.1"
SAYSO_PORT = environment.number(ENV, "SAYSO_PORT", default=8000, least=1, most=65_535)
SAYSO_ORIGIN = environment.origin(ENV, "SAYSO_ORIGIN")
SAYSO_TRUSTED_PROXY = _flag("SAYSO_TRUSTED_PROXY")
SAYSO_MAX_BODY_BYTES = environment.number(ENV, "SAYSO_MAX_BODY_BYTES", default=11 * 1024 * 1024, least=1)
REDIS_URL = ENV.get("REDIS_URL", "")

SAYSO_ORIGINS = frozenset(
    {SAYSO_ORIGIN} if SAYSO_ORIGIN else {f"http://127.0.0.1:{SAYSO_PORT}", f"http://localhost:{SAYSO_PORT}"}
)

# --- The gate ---------------------------------------------------------------------------------------------------------
SAYSO_MAX_OPEN = environment.number(ENV, "SAYSO_MAX_OPEN", default=10)
SAYSO_DENIED_RECENTLY_S = environment.number(ENV, "SAYSO_DENIED_RECENTLY_S", default=600)

# --- Phones -----------------------------------------------------------------------------------------------------------
SAYSO_DEVICE_RELAY = _flag("SAYSO_DEVICE_RELAY", default=True)

# --- Schedules --------------------------------------------------------------------------------------------------------
SAYSO_DISPATCH = _flag("SAYSO_DISPATCH", default=True)
SAYSO_DELIVERY_HISTORY_DAYS = environment.number(ENV, "SAYSO_DELIVERY_HISTORY_DAYS", default=30)
SAYSO_DELIVERY_HISTORY_RECORDS = environment.number(ENV, "SAYSO_DELIVERY_HISTORY_RECORDS", default=200)
# Private places, as host:port, that webhooks may call; everything else must be on the public internet.
SAYSO_WEBHOOK_PLACES = [place for place in ENV.get("SAYSO_WEBHOOK_PLACES", "").lower().split(",") if place]
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["webhooks"]}}

# --- Keys -------------------------------------------------------------------------------------------------------------
SAYSO_KEYS = KeyRing(SAYSO_DATA_DIR / "keys")
SECRET_KEY = SAYSO_KEYS.text("django_secret")

# --- Django -----------------------------------------------------------------------------------------------------------
DEBUG = False
ALLOWED_HOSTS = (
    [urlsplit(SAYSO_ORIGIN).hostname or ""] if SAYSO_ORIGIN else ["127.0.0.1", "localhost", "[::1]", "testserver"]
) + [host for host in ENV.get("SAYSO_ALLOWED_HOSTS", "").split(",") if host]
INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "django_tasks_db",
    "apps.accounts",
    "apps.ledger",
    "apps.confirmations",
    "apps.sessions",
    "apps.devices",
    "apps.calendars",
    "apps.captures",
    "apps.schedules",
    "apps.web",
]
MIDDLEWARE = ["apps.core.api.PageMiddleware"]
SAYSO_PAGE_MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "apps.web.views.PersonMiddleware",
]
# These three run inside PageMiddleware, for pages only.
SILENCED_SYSTEM_CHECKS = ["admin.E408", "admin.E409", "admin.E410"]
ROOT_URLCONF = "project.urls"
ASGI_APPLICATION = "project.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ]
        },
    }
]


def _database(parts: SplitResult | None) -> dict[str, object]:
    if parts is None:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": SAYSO_DATA_DIR / "sayso.sqlite3",
            "CONN_MAX_AGE": None,
            # Deferred transactions would let seven of eight deciders see "database is locked".
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;"
                # What is deleted is overwritten.
                " PRAGMA secure_delete=ON;"
                # 8 MiB instead of two: a person decides about any of many, and what is read anew costs a system call.
                " PRAGMA cache_size=-8192;"
                # 16 MiB of log instead of four: moving pages into the file costs two more waits for the disk.
                " PRAGMA wal_autocheckpoint=4000;",
            },
            # A file, not memory: tests start server processes and threads of their own on it.
            "TEST": {"NAME": ENV.get("SAYSO_TEST_DATABASE", str(SAYSO_DATA_DIR / "test.sqlite3"))},
        }
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
    }


DATABASES = {"default": _database(environment.database(ENV, "DATABASE_URL"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/inbox/"
CHANNEL_LAYERS = {
    "default": (
        {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None}], "prefix": "sayso"},
        }
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

# --- Sessions, cookies and headers ------------------------------------------------------------------------------------
_HTTPS = SAYSO_ORIGIN.startswith("https://")
SESSION_COOKIE_NAME = "sayso_session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_SAVE_EVERY_REQUEST = False
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _HTTPS
CSRF_COOKIE_NAME = "sayso_csrf"
CSRF_COOKIE_SECURE = _HTTPS
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = sorted(SAYSO_ORIGINS)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SAYSO_TRUSTED_PROXY else None
SECURE_REFERRER_POLICY = "no-referrer"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if _HTTPS else 0
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = SAYSO_MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = SAYSO_MAX_BODY_BYTES

from csp.constants import NONCE, NONE, SELF  # noqa: E402

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [NONCE],
        "style-src": [NONCE, SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- Language and time ------------------------------------------------------------------------------------------------
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]

# --- Static files -----------------------------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = SAYSO_DATA_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 300

# --- The API ----------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.accounts.api.CallerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["apps.accounts.api.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["apps.core.api.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.core.api.StrictJSONParser"],
    "EXCEPTION_HANDLER": "apps.core.api.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "apps.core.api.FirstRenderer",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Sayso",
    "DESCRIPTION": "Calendars and reminders kept by agents; nothing is deleted until a person says so.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": True,
    "SERVE_PERMISSIONS": ["apps.accounts.api.Anybody"],
    "SERVE_AUTHENTICATION": [],
    # One of the paths lies beside the others; each is listed under what comes after this.
    "SCHEMA_PATH_PREFIX": "/api|/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}
_LOG_LEVEL = environment.log_level(ENV, "SAYSO_LOG_LEVEL")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": _LOG_LEVEL},
    # Every refused request is an answer, not an event; only what broke is worth a line by default.
    "loggers": {"django.request": {"level": "ERROR" if _LOG_LEVEL == "WARNING" else _LOG_LEVEL}},
}

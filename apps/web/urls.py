"""Routes of the pages."""

from django.urls import path
from django.views.generic.base import RedirectView

from apps.web.views import calendar, captures, health, inbox, schedules, sessions, settings, sign_in, tokens

urlpatterns = [
    path("", RedirectView.as_view(url="/inbox/"), name="home"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("login/", sign_in.sign_in, name="login"),
    path("logout/", sign_in.sign_out, name="logout"),
    path("inbox", RedirectView.as_view(url="/inbox/", query_string=True)),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/<str:confirmation_id>", inbox.card_page, name="card"),
    path("inbox/<str:confirmation_id>/ask-again", inbox.ask_again, name="ask_again"),
    path("receipts/<str:receipt_id>", inbox.receipt_page, name="receipt"),
    path("calendar/", calendar.calendar_page, name="calendar"),
    path("reminders/", calendar.reminders_page, name="reminders"),
    path("sessions", RedirectView.as_view(url="/sessions/", query_string=True)),
    path("sessions/", sessions.sessions_page, name="sessions"),
    path("sessions/<str:session_ref>", sessions.session_page, name="session"),
    path("schedules", RedirectView.as_view(url="/schedules/", query_string=True)),
    path("schedules/", schedules.schedules_page, name="schedules"),
    path("captures", RedirectView.as_view(url="/captures/", query_string=True)),
    path("captures/", captures.captures_page, name="captures"),
    path("captures/source", captures.source_page, name="source"),
    path("captures/conflicts", captures.conflicts_page, name="conflicts"),
    path("tokens/", tokens.tokens_page, name="tokens"),
    path("tokens/<str:token_id>/end", tokens.end_token, name="end_token"),
    path("settings/", settings.settings_page, name="settings"),
    path("settings/person", settings.save_person),
    path("settings/zone", settings.save_zone),
    path("settings/profile", settings.save_profile),
    path("settings/members", settings.save_member),
    path("settings/members/<int:user_id>/remove", settings.drop_member),
    path("settings/password", settings.save_password),
    path("settings/sign-out-everywhere", settings.leave_everywhere),
    path("language/", settings.choose_language),
    path("profile/", settings.choose_profile),
    path("no-profile/", sign_in.no_profile),
]

"""Routes of sessions."""

from django.urls import path

from apps.sessions import api
from apps.sessions.api import (
    closing,
    control,
    exporting,
    forking,
    inbox,
    leases,
    log,
    pinning,
    shelving,
    standing,
    transcript,
)

urlpatterns = [
    path("api/agent-control/sessions", control.ControlSessions.as_view()),
    path("api/agent-control/turns", control.ControlTurns.as_view()),
    path("api/agent-control/session/delete", control.SessionDelete.as_view()),
    path("api/agent-control/turn/delete", control.TurnDelete.as_view()),
    path("api/sessions", api.SessionList.as_view()),
    path("api/sessions/<str:session_ref>", api.SessionDetail.as_view()),
    path("api/sessions/<str:session_ref>/events", log.SessionEvents.as_view()),
    path("api/sessions/<str:session_ref>/surface", log.SessionSurface.as_view()),
    path("api/sessions/<str:session_ref>/reopen", log.SessionReopening.as_view()),
    path("api/sessions/<str:session_ref>/runs", api.RunList.as_view()),
    path("api/sessions/<str:session_ref>/runs/<str:run_id>/end", api.RunEnd.as_view()),
    path("api/sessions/<str:session_ref>/runs/<str:run_id>/abort", api.RunAbort.as_view()),
    path("api/sessions/<str:session_ref>/lease", leases.SessionLease.as_view()),
    path("api/sessions/<str:session_ref>/close", closing.SessionClose.as_view()),
    path("api/sessions/<str:session_ref>/inbox", inbox.SessionInbox.as_view()),
    path("api/sessions/<str:session_ref>/inbox/<str:message>/ack", inbox.MessageAcknowledgement.as_view()),
    path("api/sessions/<str:session_ref>/fork", forking.SessionFork.as_view()),
    path("api/sessions/<str:session_ref>/archive", shelving.Archive.as_view()),
    path("api/sessions/<str:session_ref>/unarchive", shelving.Unarchive.as_view()),
    path("api/sessions/<str:session_ref>/pin", pinning.Pin.as_view()),
    path("api/sessions/<str:session_ref>/unpin", pinning.Unpin.as_view()),
    path("api/sessions/<str:session_ref>/export", exporting.SessionExport.as_view()),
    path("api/sessions/<str:session_ref>/standing", standing.Standing.as_view()),
    path("api/sessions/<str:session_ref>/transcript", transcript.Transcript.as_view()),
    path("api/sessions/<str:session_ref>/transcript/<str:seq>", transcript.TranscriptRow.as_view()),
]

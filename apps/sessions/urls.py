"""Routes of sessions."""

from django.urls import path

from apps.sessions import api

urlpatterns = [
    path("api/sessions", api.SessionList.as_view()),
    path("api/sessions/<str:session_ref>", api.SessionDetail.as_view()),
    path("api/sessions/<str:session_ref>/runs", api.RunList.as_view()),
    path("api/sessions/<str:session_ref>/runs/<str:run_id>/end", api.RunEnd.as_view()),
    path("api/sessions/<str:session_ref>/runs/<str:run_id>/abort", api.RunAbort.as_view()),
]

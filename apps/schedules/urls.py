"""Routes of the schedules room."""

from django.urls import path

from apps.schedules.api import deliveries, fired, schedules, webhooks

SESSION = "api/sessions/<str:session_ref>"
TASK = f"{SESSION}/schedules/<str:task_ref>"

urlpatterns = [
    path("api/schedules", schedules.Catalog.as_view()),
    path("api/schedules/preview", schedules.SchedulePreview.as_view()),
    path("api/schedules/fired", fired.Fired.as_view()),
    path("api/schedules/events", schedules.ScheduleEvents.as_view()),
    path(f"{SESSION}/schedules", schedules.SessionSchedules.as_view()),
    path(TASK, schedules.ScheduleDetail.as_view()),
    path(f"{TASK}/deliveries", deliveries.Deliveries.as_view()),
    path(f"{TASK}/run", schedules.ScheduleRun.as_view()),
    path(f"{TASK}/skip", schedules.ScheduleSkip.as_view()),
    path(f"{SESSION}/webhook", webhooks.SessionWebhook.as_view()),
]

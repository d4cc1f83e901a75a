"""Routes of the calendars room."""

from django.urls import path

from apps.calendars.api import calendars, events, files, mobile, reminders, revisions

EVENTS, REMINDERS = "api/calendars/events", "api/calendars/reminders"

urlpatterns = [
    path("api/studio/mobile-calendar/request", mobile.MobileCalendar.as_view()),
    path("api/calendars", calendars.CalendarList.as_view()),
    path(EVENTS, events.EventList.as_view()),
    path(f"{EVENTS}/<str:item_id>", events.EventDetail.as_view()),
    path(f"{EVENTS}/<str:item_id>/duplicate", events.EventDuplicate.as_view()),
    path(f"{EVENTS}/<str:item_id>/revisions", revisions.RevisionList.as_view()),
    path(f"{EVENTS}/<str:item_id>/revisions/<int:number>/restore", revisions.RevisionRestore.as_view()),
    path(REMINDERS, reminders.ReminderList.as_view()),
    path(f"{REMINDERS}/<str:item_id>", reminders.ReminderDetail.as_view()),
    path(f"{REMINDERS}/<str:item_id>/complete", reminders.ReminderComplete.as_view()),
    path(f"{REMINDERS}/<str:item_id>/revisions", revisions.ReminderRevisionList.as_view()),
    path(f"{REMINDERS}/<str:item_id>/revisions/<int:number>/restore", revisions.ReminderRevisionRestore.as_view()),
    path("api/calendars/<str:calendar_id>/import", files.CalendarImport.as_view()),
    path("api/calendars/<str:calendar_id>/export.ics", files.CalendarExport.as_view()),
    path("api/calendars/<str:calendar_id>", calendars.CalendarDetail.as_view()),
]

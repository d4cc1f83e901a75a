"""Routes of the calendars room."""

from django.urls import path

from apps.calendars.api import calendars, files, items, mobile

EVENTS, REMINDERS = "api/calendars/events", "api/calendars/reminders"

urlpatterns = [
    path("api/studio/mobile-calendar/request", mobile.MobileCalendar.as_view()),
    path("api/calendars", calendars.CalendarList.as_view()),
    path(EVENTS, items.EventList.as_view()),
    path(f"{EVENTS}/<str:item_id>", items.EventDetail.as_view()),
    path(f"{EVENTS}/<str:item_id>/duplicate", items.EventDuplicate.as_view()),
    path(f"{EVENTS}/<str:item_id>/revisions", items.RevisionList.as_view()),
    path(f"{EVENTS}/<str:item_id>/revisions/<int:number>/restore", items.RevisionRestore.as_view()),
    path(REMINDERS, items.ReminderList.as_view()),
    path(f"{REMINDERS}/<str:item_id>", items.ReminderDetail.as_view()),
    path(f"{REMINDERS}/<str:item_id>/complete", items.ReminderComplete.as_view()),
    path(f"{REMINDERS}/<str:item_id>/revisions", items.ReminderRevisionList.as_view()),
    path(f"{REMINDERS}/<str:item_id>/revisions/<int:number>/restore", items.ReminderRevisionRestore.as_view()),
    path("api/calendars/<str:calendar_id>/import", files.CalendarImport.as_view()),
    path("api/calendars/<str:calendar_id>/export.ics", files.CalendarExport.as_view()),
    path("api/calendars/<str:calendar_id>", calendars.CalendarDetail.as_view()),
]

"""Wiring of the calendars room."""

from django.apps import AppConfig


class CalendarsConfig(AppConfig):
    """Calendars, events and reminders that Sayso keeps, and the mobile-calendar door."""

    name = "apps.calendars"
    label = "calendars"

    def ready(self) -> None:
        """Publish the contracts, let asks share a commit, and keep the occurrence rows ahead of time."""
        from apps.calendars import contracts
        from apps.calendars.actions import device_answers, storing
        from apps.calendars.actions.ringing import ring_due
        from apps.calendars.queries import items
        from apps.calendars.queries.ringing import next_alarm_ms
        from apps.core import frames, timers
        from apps.core.contracts import register
        from apps.core.serving import grouped_requests

        register(*contracts.ALL)
        for capability in ("calendar", "reminder"):
            frames.register("device", f"{capability}.respond", device_answers.settle_device_request)
        grouped_requests.add(("POST", "/api/studio/mobile-calendar/request"))
        timers.register(
            timers.Timer(
                name="calendars.horizon",
                next_due_ms=items.next_extension_ms,
                run_due=storing.extend_rows,
                event="calendar.horizon",
            )
        )
        timers.register(
            timers.Timer(
                name="calendars.alarms",
                next_due_ms=next_alarm_ms,
                run_due=ring_due,
                event="calendar.alarm",
                dispatches=True,
            )
        )

import time

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


def set_clocks(apps, schema_editor):
    """Let what is stored already ring from now on."""
    clocks, objects = (apps.get_model("calendars", name) for name in ("AlarmClock", "CalendarObject"))
    now_ms = time.time_ns() // 1_000_000
    ringing = objects.objects.filter(Q(kind="VTODO") | Q(ics__icontains="BEGIN:VALARM"))
    clocks.objects.bulk_create(
        (
            clocks(object_id=pk, profile_id=profile_id, at_ms=now_ms, since_ms=now_ms)
            for pk, profile_id in ringing.values_list("pk", "profile_id").iterator()
        ),
        batch_size=500,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("calendars", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="AlarmClock",
            fields=[
                (
                    "object",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="calendars.calendarobject",
                    ),
                ),
                ("at_ms", models.BigIntegerField(db_index=True)),
                ("since_ms", models.BigIntegerField()),
                (
                    "profile",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.profile",
                    ),
                ),
            ],
        ),
        migrations.RunPython(set_clocks, migrations.RunPython.noop),
    ]

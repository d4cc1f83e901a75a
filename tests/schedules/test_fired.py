"""What pages are told of reminders that were sent."""

from apps.accounts.models import Workspace
from apps.schedules.queries.fired import last_fired
from tests import factories
from tests.schedules.house import DAILY, HOUR_MS, NINE, NOW_MS


def fired(house, after, **headers):
    return house.call("GET", f"/api/schedules/fired?after={after}", **headers)


def test_what_was_sent_after_a_number_is_told_once(house):
    house.add(title="Often\u202e")
    house.add(title="Daily", **DAILY)
    assert fired(house, 0) == {"fired": [], "next": 0}
    house.at(NOW_MS + HOUR_MS)
    first = fired(house, 0)
    assert [(one["title"], one["sessionId"], one["missed"]) for one in first["fired"]] == [("Often[U+202E]", "s1", 0)]
    assert fired(house, first["next"]) == {"fired": [], "next": first["next"]}
    house.at(NINE)
    second = fired(house, first["next"])
    assert sorted(one["title"] for one in second["fired"]) == ["Daily", "Often[U+202E]"]
    assert second["next"] == last_fired()


def test_what_was_passed_over_was_not_sent(house):
    record = house.add()
    house.call("POST", f"{house.path}/{record['id']}/skip")
    assert fired(house, 0)["fired"] == []


def test_nobody_else_hears_of_it(house):
    house.add()
    house.at(NOW_MS + HOUR_MS)
    workspace = Workspace.objects.get()
    workspace.restricted = True
    workspace.save()
    assert fired(house, 0)["fired"] == []
    workspace.members.add(house.world.owner.user_id)
    assert len(fired(house, 0)["fired"]) == 1
    there = factories.profile("elsewhere")
    _, house.world.secret = factories.token(factories.person("charlie", elsewhere="owner"), of=there)
    assert fired(house, 0)["fired"] == []


def test_a_number_is_asked_for(house):
    assert house.call("GET", "/api/schedules/fired?after=x", status=400)["field"] == "after"

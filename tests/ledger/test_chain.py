"""The chain: what an edit, a deletion, an insertion, a swap and a cut tail look like."""

import json
from dataclasses import replace

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction

from apps.core import rows
from apps.core.keys import KeyRing
from apps.ledger import actions
from apps.ledger.models import LedgerEntry, LedgerHead
from apps.ledger.queries import entries_of
from apps.ledger.rules import first_fault, hash_of
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain():
    """A profile with five entries."""
    profile = factories.profile()
    for number in range(5):
        actions.append(
            profile_id=profile.pk, actor="user:1", action="thing.done", target=f"thing:{number}", now_ms=number
        )
    return profile


def appended(profile):
    return actions.append(profile_id=profile.pk, actor="user:1", action="thing.done", target="thing:x", now_ms=9)


@transaction.atomic
def append_beside_another(profile):
    with rows.repeatable():
        appended(profile)
        LedgerHead.objects.filter(pk=profile.pk).update(seq=9)


def fault(profile):
    head = LedgerHead.objects.get(pk=profile.pk)
    found = first_fault(
        entries_of(profile_id=profile.pk),
        key=settings.SAYSO_KEYS.key("ledger_hmac"),
        profile_id=profile.pk,
        head_seq=head.seq,
        head_hash=head.hash,
    )
    return found and (found.seq, found.kind)


def entry(profile, seq):
    return LedgerEntry.objects.filter(profile=profile, seq=seq)


class TestTheChain:
    def test_holds_as_it_was_written(self, chain):
        assert fault(chain) is None
        assert [e.seq for e in entries_of(profile_id=chain.pk)] == [1, 2, 3, 4, 5]

    def test_counts_for_each_profile(self, chain):
        other = factories.profile("other")
        assert actions.append(profile_id=other.pk, actor="user:1", action="a", target="t", now_ms=0) == 1
        assert actions.append(profile_id=chain.pk, actor="user:1", action="a", target="t", now_ms=0) == 6

    @pytest.mark.only_on("sqlite")
    def test_holds_when_a_group_appends_with_one_move_of_the_head(self, chain):
        other = factories.profile("other")
        with rows.repeatable():
            numbers = [appended(profile) for profile in (chain, other, chain)]
            assert entry(chain, 6).count() == 0
        assert numbers == [6, 1, 7]
        assert [fault(profile) for profile in (chain, other)] == [None, None]
        assert [e.seq for e in entries_of(profile_id=chain.pk)][-2:] == [6, 7]

    @pytest.mark.only_on("sqlite")
    def test_a_group_that_began_with_another_head_is_undone(self, chain):
        with pytest.raises(rows.Spoiled):
            append_beside_another(chain)
        assert appended(chain) == 6
        assert fault(chain) is None

    @pytest.mark.parametrize(
        "edit",
        [
            {"actor": "user:2"},
            {"action": "thing.undone"},
            {"target": "thing:9"},
            {"at_ms": 99},
            {"effect": "x"},
            {"digest": "x"},
            {"ids": '{"a":1}'},
            {"own_hash": "0" * 64},
        ],
    )
    def test_shows_an_edit_where_it_is(self, chain, edit):
        entry(chain, 3).update(**edit)
        assert fault(chain) == (3, "edited")

    def test_shows_a_deleted_entry(self, chain):
        entry(chain, 3).delete()
        assert fault(chain) == (3, "missing")

    def test_shows_a_deleted_entry_whose_gap_was_closed(self, chain):
        entry(chain, 3).delete()
        for seq in (4, 5):
            entry(chain, seq).update(seq=seq - 1)
        assert fault(chain)[0] == 3

    def test_shows_an_inserted_entry(self, chain):
        for seq in (5, 4):
            entry(chain, seq).update(seq=seq + 1)
        old = entry(chain, 3).get()
        old.pk, old.seq = None, 4
        old.save(force_insert=True)
        assert fault(chain)[0] == 4

    def test_shows_two_entries_that_changed_places(self, chain):
        entry(chain, 2).update(seq=99)
        entry(chain, 3).update(seq=2)
        entry(chain, 99).update(seq=3)
        assert fault(chain) == (2, "reordered")

    def test_shows_a_cut_tail_against_its_head(self, chain):
        entry(chain, 5).delete()
        assert fault(chain) == (5, "cut")

    def test_shows_a_forged_head(self, chain):
        LedgerHead.objects.filter(pk=chain.pk).update(hash="0" * 64)
        assert fault(chain) == (5, "edited")

    def test_cannot_be_written_anew_without_the_key(self, chain):
        head = LedgerHead.objects.get(pk=chain.pk)
        entries = entries_of(profile_id=chain.pk)
        found = first_fault(entries, key=b"other", profile_id=chain.pk, head_seq=head.seq, head_hash=head.hash)
        assert (found.seq, found.kind) == (1, "edited")


class TestTheCommands:
    def test_an_intact_chain_passes(self, chain, capsys):
        call_command("verify_ledger")
        assert "the chain holds" in capsys.readouterr().out

    def test_the_first_bad_row_is_named(self, chain):
        entry(chain, 2).update(actor="user:2")
        entry(chain, 4).update(actor="user:2")
        with pytest.raises(CommandError, match="entry 2 is edited"):
            call_command("verify_ledger")

    def test_a_tail_cut_together_with_its_head_shows_against_the_exported_head(self, chain, tmp_path, capsys):
        call_command("export_ledger_head")
        heads = tmp_path / "heads"
        heads.write_text(capsys.readouterr().out)
        entry(chain, 5).delete()
        last = entry(chain, 4).get()
        LedgerHead.objects.filter(pk=chain.pk).update(seq=4, hash=last.own_hash)
        call_command("verify_ledger")
        with pytest.raises(CommandError, match="entry 5 is cut"):
            call_command("verify_ledger", heads=str(heads))

    def test_a_chain_that_vanished_whole_shows_against_the_exported_head(self, chain, tmp_path, capsys):
        call_command("export_ledger_head")
        heads = tmp_path / "heads"
        heads.write_text(capsys.readouterr().out)
        LedgerEntry.objects.all().delete()
        LedgerHead.objects.all().delete()
        with pytest.raises(CommandError, match="entry 1 is cut"):
            call_command("verify_ledger", heads=str(heads))

    def test_a_forged_export_is_refused(self, chain, tmp_path, capsys):
        call_command("export_ledger_head")
        head = json.loads(capsys.readouterr().out)
        heads = tmp_path / "heads"
        heads.write_text(json.dumps(head | {"seq": 3}))
        with pytest.raises(CommandError, match="signature"):
            call_command("verify_ledger", heads=str(heads))


class TestAnotherKey:
    @pytest.fixture
    def rotated(self, chain, tmp_path, settings, capsys):
        """The chain goes on with a new key; a head was exported before."""
        settings.SAYSO_KEYS = KeyRing(tmp_path)
        LedgerEntry.objects.all().delete()
        LedgerHead.objects.all().delete()
        for number in range(6):
            if number == 3:
                call_command("export_ledger_head")
                (tmp_path / "heads").write_text(capsys.readouterr().out)
                settings.SAYSO_KEYS.rotate("ledger_hmac")
            actions.append(profile_id=chain.pk, actor="user:1", action="a", target=f"thing:{number}", now_ms=number)
        return tmp_path / "heads"

    def test_leaves_the_chain_whole(self, chain, rotated, capsys):
        call_command("verify_ledger", heads=str(rotated))
        assert "6 entries, the chain holds" in capsys.readouterr().out

    def test_still_finds_an_edit_before_and_after(self, chain, rotated):
        for seq in (5, 2):
            entry(chain, seq).update(actor="user:2")
            with pytest.raises(CommandError, match=f"entry {seq} is edited"):
                call_command("verify_ledger")

    def test_makes_the_old_one_worthless_for_what_is_new(self, chain, rotated, settings):
        (old,) = settings.SAYSO_KEYS.older("ledger_hmac")
        last = next(e for e in entries_of(profile_id=chain.pk) if e.seq == 6)
        forged = hash_of(replace(last, actor="user:2"), key=old)
        entry(chain, 6).update(actor="user:2", own_hash=forged)
        LedgerHead.objects.update(hash=forged)
        with pytest.raises(CommandError, match="entry 6 is edited"):
            call_command("verify_ledger")

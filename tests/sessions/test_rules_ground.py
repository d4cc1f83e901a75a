from hypothesis import given
from hypothesis import strategies as st

from apps.sessions.rules.ground import Change, Mark, MemoryGround, Overlay

MOVES = st.lists(st.tuples(st.booleans(), st.integers(0, 30), st.integers(0, 4)), max_size=30)


def play(moves, *, ground, first=0):
    """Append a node for each move, or put it in the place of a run of nodes."""
    for seq, (replaces, start, length) in enumerate(moves, first):
        nodes = surface(ground, until=seq)
        run = nodes[start % len(nodes) :][: 1 + length] if replaces and nodes else []
        place = ground.place(run[0]) if run else seq
        cites = tuple(run) or ((seq - 1,) if seq else ())
        mark = Mark("command", str(start), seq)
        change = Change(place=place, removed=tuple(run), cites=cites, marks=(mark,))
        ground.take(event={"seq": seq, "type": "user/message"}, change=change)
    return ground


def surface(ground, *, until):
    standing = [seq for seq in range(until) if ground.place(seq) is not None]
    return sorted(standing, key=ground.place)


def facts(ground, *, length):
    """Return every answer that a ground can give."""
    nodes = surface(ground, until=length)
    places = [ground.place(seq) for seq in nodes]
    return {
        "nodes": nodes,
        "spans": [
            list(ground.span(first=first, last=last)) for index, first in enumerate(places) for last in places[index:]
        ],
        "events": [event["seq"] for event in ground.events(first=1, last=length)],
        "one": [ground.event(seq) for seq in range(-1, length + 1)],
        "citers": [list(ground.citers(seq)) for seq in range(length)],
        "marks": [ground.mark(kind="command", key=str(key)) for key in range(31)],
    }


@given(MOVES, MOVES)
def test_a_batch_on_top_of_a_log_answers_as_the_whole_log(below, above):
    length = len(below) + len(above)
    overlay = Overlay(below=play(below, ground=MemoryGround()))
    play(above, ground=overlay, first=len(below))
    whole = play([*below, *above], ground=MemoryGround())
    assert facts(overlay, length=length) == facts(whole, length=length)
    assert surface(whole, until=length) == whole.nodes()
    assert len(overlay.taken) == len(above)


@given(MOVES, MOVES)
def test_a_batch_leaves_the_log_below_alone(below, above):
    ground = play(below, ground=MemoryGround())
    before = facts(ground, length=len(below))
    play(above, ground=Overlay(below=ground), first=len(below))
    assert facts(ground, length=len(below)) == before


@given(MOVES)
def test_spans_follow_places(moves):
    ground = play(moves, ground=MemoryGround())
    nodes = ground.nodes()
    for index, seq in enumerate(nodes):
        place = ground.place(seq)
        assert [node.seq for node in ground.span(first=place, last=ground.place(nodes[-1]))] == nodes[index:]


def test_a_surface_can_be_laid():
    ground = play([(False, 0, 0)] * 5, ground=MemoryGround())
    ground.lay([0, 3, 1])
    assert ground.nodes() == [0, 3, 1]
    assert [ground.place(seq) for seq in range(5)] == [0, 2, None, 1, None]
    ground.lay([])
    assert ground.nodes() == []

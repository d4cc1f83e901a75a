"""Rows without the query builder, for hot paths: one look-up, insert or update by prepared SQL.

Building a queryset costs several times what SQLite needs to answer it, and Django's cursor twice the rest. The column
lists come from the models, so a migration cannot leave them behind.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models, transaction
from django.db.models.base import ModelState

log = logging.getLogger("sayso.rows")
M = TypeVar("M", bound=models.Model)


_thread = threading.local()


def _link() -> Any:
    # Django's own look-up costs as much as a small statement; a thread keeps its wrapper for life.
    found = getattr(_thread, "link", None)
    if found is None:
        found = _thread.link = connections[DEFAULT_DB_ALIAS]
    return found


@cache
def _question_marks(sql: str) -> str:
    return sql.replace("%s", "?")


def execute(sql: str, params: Sequence[Any] = ()) -> Any:
    """Run one statement on this thread's connection, in its transaction, and return the driver's own cursor.

    `%s` stands for each value, on both databases; errors are Django's. For our own SQL without a literal percent sign.
    """
    link = _link()
    if link.connection is None:
        link.ensure_connection()
    if link.vendor == "sqlite":
        sql = _question_marks(sql)
    try:
        return link.connection.execute(sql, params)
    except Exception:
        # Entered only now: around every statement it would cost a tenth of a small one.
        with link.wrap_database_errors:
            raise


def execute_many(sql: str, params: Sequence[Sequence[Any]]) -> None:
    """Run one writing statement for each row of values, as `execute` would."""
    link = _link()
    if link.connection is None:
        link.ensure_connection()
    if link.vendor == "sqlite":
        sql = _question_marks(sql)
    with link.wrap_database_errors:
        link.connection.cursor().executemany(sql, params)


@contextmanager
def outermost() -> Iterator[None]:
    """Be a transaction as `atomic()` is, without the twenty calls that it takes to begin and end one on SQLite.

    What fails after the commit is logged and not raised: whoever asked must not hear otherwise, nor do it again.
    """
    link = _link()
    if link.vendor != "sqlite" or link.in_atomic_block:
        committed: list[bool] = []
        try:
            with transaction.atomic():
                transaction.on_commit(partial(committed.append, True))
                yield
        except Exception:
            if not committed:
                raise
            log.exception("what follows a commit failed")
        return
    execute(_BEGIN)
    link.commit_on_exit, link.needs_rollback, link.autocommit, link.in_atomic_block = True, False, False, True
    good = False
    try:
        yield
        good = not link.needs_rollback
    finally:
        link.in_atomic_block = False
        try:
            if good:
                link.commit()
            else:
                link.rollback()
        except BaseException:
            link.rollback()
            raise
        finally:
            link.autocommit, link.run_commit_hooks_on_set_autocommit_on = True, False
    try:
        link.run_and_clear_commit_hooks()
    except Exception:
        log.exception("what follows a commit failed")


_BEGIN = "begin immediate"
"""What the settings' `transaction_mode` makes of every transaction."""


@contextmanager
def joined() -> Iterator[None]:
    """Be part of the transaction around, or be one; as `atomic(savepoint=False)` at a fraction of the cost."""
    link = _link()
    if not link.in_atomic_block:
        with transaction.atomic():
            yield
        return
    try:
        yield
    except BaseException:
        link.needs_rollback = True
        raise


class Spoiled(BaseException):
    """The transaction that several share is unfit for a commit: all of it has to be undone and done again one by one.

    No `Exception`, so that nobody on the way out takes it for a refusal of their own.
    """


@contextmanager
def repeatable() -> Iterator[None]:
    """Let `undoable` do without savepoints: whoever runs the block undoes all of it when it raises `Spoiled`.

    What the block leaves to `behind` is written at its end.
    """
    _thread.repeatable = _link().vendor == "sqlite"
    _thread.behind = {} if _thread.repeatable else None
    _thread.added = 0
    try:
        yield
        _write_behind()
    finally:
        _thread.repeatable, _thread.behind = False, None


class Behind(Protocol):
    """What many jobs of a group change in one place, written once for all of them."""

    def write(self) -> None:
        """Write it; raises Spoiled if what it began with does not hold any more."""


B = TypeVar("B", bound=Behind)


def behind(key: tuple[str, ...], make: Callable[[], B]) -> B | None:
    """Return what this group writes at its end under a key, made if need be; None where each writes for itself.

    Whoever adds to it calls `added` each time.
    """
    group: dict[tuple[str, ...], B] | None = getattr(_thread, "behind", None)
    if group is None:
        return None
    found = group.get(key)
    if found is None:
        found = group[key] = make()
    return found


def added() -> None:
    """Say that something was added to what the group writes at its end; nothing to do without a group.

    Whatever undoes a part of the transaction drops the mark that this leaves, and then the whole group is undone.
    """
    if getattr(_thread, "behind", None) is not None:
        link = _link()
        link.run_on_commit.append((set(link.savepoint_ids), _mark, False))
        _thread.added += 1


def _mark() -> None:
    """Stand for one addition among what follows the commit."""


def _write_behind() -> None:
    if not _thread.behind:
        return
    if sum(call is _mark for _, call, _ in _link().run_on_commit) != _thread.added:
        raise Spoiled
    for each in _thread.behind.values():
        each.write()


@contextmanager
def undoable() -> Iterator[None]:
    """Undo what the block wrote when it raises, as `atomic()` does; within a transaction at a fraction of the cost."""
    link = _link()
    if not link.in_atomic_block:
        with transaction.atomic():
            yield
        return
    if getattr(_thread, "repeatable", False):
        before, waiting = link.connection.total_changes, len(link.run_on_commit)
        try:
            yield
        except BaseException as error:
            if link.connection.total_changes != before:
                raise Spoiled from error
            # Nothing to undo, whatever a block of Django's inside made of it.
            link.needs_rollback = False
            del link.run_on_commit[waiting:]
            raise
        return
    # The same few names again and again, so that the statements stay prepared.
    depth = _thread.depth = getattr(_thread, "depth", 0) + 1
    name, waiting = f"undoable_{depth}", len(link.run_on_commit)
    execute(f"savepoint {name}")
    try:
        yield
    except BaseException:
        execute(f"rollback to savepoint {name}")
        link.needs_rollback = False
        del link.run_on_commit[waiting:]
        raise
    finally:
        _thread.depth = depth - 1
        execute(f"release savepoint {name}")


@cache
def _columns(model: type[models.Model]) -> tuple[tuple[str, ...], str, tuple[int, ...]]:
    fields = model._meta.concrete_fields
    names = tuple(field.attname for field in fields)
    columns = ", ".join(f'"{field.column}"' for field in fields)
    booleans = tuple(index for index, field in enumerate(fields) if isinstance(field, models.BooleanField))
    return names, columns, booleans


@cache
def _select(model: type[models.Model], where: str, lock: bool) -> str:
    suffix = " for update" if lock and connection.vendor == "postgresql" else ""
    return f'select {_columns(model)[1]} from "{model._meta.db_table}" where {where}{suffix}'  # noqa: S608 (own text)


def fetch(model: type[M], where: str, params: Sequence[Any], *, lock: bool = False) -> M | None:
    """Return the first row that a condition (our own SQL, `%s` for values) names, locked if asked; None without one.

    JSON and date fields are not decoded: for models of plain columns only.
    """
    values = execute(_select(model, where, lock), params).fetchone()
    if values is None:
        return None
    names, _, booleans = _columns(model)
    row = bare(model, dict(zip(names, values, strict=True)))
    for index in booleans:
        setattr(row, names[index], bool(values[index]))
    return row


def fetch_all(model: type[M], where: str, params: Sequence[Any]) -> list[M]:
    """Return the rows that a condition (our own SQL, `%s` for values) names, as `fetch` does for one."""
    names, _, booleans = _columns(model)
    flags = [names[index] for index in booleans]
    found = []
    for values in execute(_select(model, where, lock=False), params).fetchall():
        columns = dict(zip(names, values, strict=True))
        for name in flags:
            columns[name] = bool(columns[name])
        found.append(bare(model, columns))
    return found


def bare(model: type[M], values: dict[str, Any], *, adding: bool = False) -> M:
    """Return an instance with exactly these attributes, every column among them; no signals, no defaults."""
    row = model.__new__(model)
    row.__dict__.update(values)
    row._state = ModelState()
    row._state.adding = adding
    row._state.db = None if adding else DEFAULT_DB_ALIAS
    return row


@cache
def _defaults(model: type[models.Model]) -> dict[str, Any]:
    fields = model._meta.concrete_fields
    plain = (field for field in fields if field.default is models.NOT_PROVIDED or not callable(field.default))
    return {field.attname: field.get_default() for field in plain}


def fresh(model: type[M], **values: Any) -> M:
    """Return an unsaved instance with the model's defaults; those that are called, such as a new id, must be given."""
    return bare(model, _defaults(model) | values, adding=True)


@cache
def _insert_new(model: type[models.Model], unique: tuple[str, ...]) -> str:
    return f"{_insert(model)} on conflict ({', '.join(unique)}) do nothing"


def insert_new(row: models.Model, *, unique: tuple[str, ...]) -> bool:
    """Insert a row whose key and every column are set, unless one has these unique columns already; tell whether.

    Raises IntegrityError for any other constraint.
    """
    model = type(row)
    return bool(execute(_insert_new(model, unique), _values(_columns(model)[0])(row)).rowcount)


@cache
def _insert(model: type[models.Model]) -> str:
    names, columns, _ = _columns(model)
    marks = ", ".join(["%s"] * len(names))
    return f'insert into "{model._meta.db_table}" ({columns}) values ({marks})'  # noqa: S608 (own text)


@cache
def _values(names: tuple[str, ...]) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*names)


def insert(row: models.Model) -> None:
    """Insert a row whose key and every column are set."""
    model = type(row)
    execute(_insert(model), _values(_columns(model)[0])(row))
    row._state.adding = False
    row._state.db = DEFAULT_DB_ALIAS


def insert_all(model: type[M], rows: Sequence[M]) -> None:
    """Insert rows of one model whose keys and every column are set."""
    values = attrgetter(*_columns(model)[0])
    execute_many(_insert(model), [values(row) for row in rows])
    for row in rows:
        row._state.adding = False
        row._state.db = DEFAULT_DB_ALIAS


@cache
def _update(model: type[models.Model], names: tuple[str, ...]) -> str:
    columns = {field.attname: field.column for field in model._meta.concrete_fields}
    key = model._meta.pk
    assert key is not None
    changes = ", ".join(f'"{columns[name]}" = %s' for name in names)
    return f'update "{model._meta.db_table}" set {changes} where "{key.column}" = %s'  # noqa: S608 (own text)


def update(row: models.Model, names: Sequence[str]) -> None:
    """Write the named columns of a row that this transaction has locked."""
    chosen = tuple(names)
    execute(_update(type(row), chosen), _values((*chosen, "pk"))(row))


def update_all(model: type[M], rows: Sequence[M], names: Sequence[str]) -> None:
    """Write the named columns of rows of one model that this transaction has locked."""
    key = model._meta.pk
    assert key is not None
    values = attrgetter(*names, key.attname)
    execute_many(_update(model, tuple(names)), [values(row) for row in rows])

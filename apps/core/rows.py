"""Rows without the query builder, for hot paths: one look-up, insert or update by prepared SQL.

Building a queryset costs several times what SQLite needs to answer it. The column lists come from the models, so a
migration cannot leave them behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection, models

M = TypeVar("M", bound=models.Model)


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
    with connection.cursor() as cursor:
        cursor.execute(_select(model, where, lock), params)
        values = cursor.fetchone()
    if values is None:
        return None
    names, _, booleans = _columns(model)
    if booleans:
        values = list(values)
        for index in booleans:
            values[index] = bool(values[index])
    return model.from_db(connection.alias, names, values)


@cache
def _insert(model: type[models.Model]) -> str:
    names, columns, _ = _columns(model)
    marks = ", ".join(["%s"] * len(names))
    return f'insert into "{model._meta.db_table}" ({columns}) values ({marks})'  # noqa: S608 (own text)


def insert(row: models.Model) -> None:
    """Insert a row whose key and every column are set."""
    model = type(row)
    with connection.cursor() as cursor:
        cursor.execute(_insert(model), [getattr(row, name) for name in _columns(model)[0]])
    row._state.adding = False
    row._state.db = connection.alias


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
    with connection.cursor() as cursor:
        cursor.execute(_update(type(row), chosen), [*(getattr(row, name) for name in chosen), row.pk])

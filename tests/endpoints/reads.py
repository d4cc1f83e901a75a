"""What views read of a request, told while they run: a field that the schema does not know is found this way."""

import sys

import pytest
from django.http import QueryDict

from apps.core import api


class ToldBody(dict):
    """A body that notes which of its members were looked for."""

    def __init__(self, members, told):
        super().__init__(members)
        self.told = told

    def get(self, name, default=None):
        self.told.add(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.told.add(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        self.told.add(name)
        return super().__contains__(name)


class Reads:
    """Names that were looked for in bodies and in queries or forms, since the last `clear`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.body: set[str] = set()
        self.query: set[str] = set()
        genuine = api.body_of
        for module in list(sys.modules.values()):
            if getattr(module, "body_of", None) is genuine:
                monkeypatch.setattr(module, "body_of", lambda request: ToldBody(genuine(request), self.body))
        for name in ("get", "getlist", "__getitem__", "__contains__"):
            monkeypatch.setattr(QueryDict, name, self.telling(getattr(QueryDict, name)))

    def telling(self, method):
        def told(query, name, *args, **kwargs):
            self.query.add(name)
            return method(query, name, *args, **kwargs)

        return told

    def clear(self) -> None:
        self.body.clear()
        self.query.clear()

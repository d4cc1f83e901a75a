"""Routes of the captures room."""

from django.urls import path, register_converter

from apps.captures import api


class Anything:
    """A source id in an address: any text, with slashes and line ends."""

    regex = r"(?s:.+)"

    def to_python(self, value: str) -> str:
        """Return the id as it is."""
        return value

    def to_url(self, value: str) -> str:
        """Return the id as it is; it is escaped where the address is made."""
        return value


register_converter(Anything, "anything")

urlpatterns = [
    path("api/captures/sources", api.SourceList.as_view()),
    path("api/captures/sources/<anything:source_id>", api.SourceDetail.as_view()),
    path("api/captures/conflicts", api.SourceConflicts.as_view()),
    path("api/captures/evidence", api.EvidenceWindow.as_view()),
    path("api/captures/project", api.Project.as_view()),
    path("api/captures/scopes", api.ScopeList.as_view()),
    path("v1/sources/content", api.SourceAlias.as_view()),
]

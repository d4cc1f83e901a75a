"""The project's routes, with one door more, like any other asking endpoint, for the contracts of the tests."""

from typing import Any

from django.urls import path
from rest_framework.response import Response

from apps.confirmations.actions import submit
from apps.confirmations.api import ask_and_answer, idempotency_key, requested_wait, shape_r
from apps.core.contracts import contract_named
from apps.core.dispatch import ApiView
from apps.core.values import now_ms
from project.urls import urlpatterns as project_urlpatterns


class WorkspaceErasing(ApiView):
    """Asks for a contract of the tests, as family R does."""

    schema = None

    def delete(self, request: Any, contract: str, slug: str) -> Response:
        wait = requested_wait(request, default_hold_s=300)
        return ask_and_answer(
            request,
            wait=wait,
            ask=lambda: submit(
                by=request.user,
                contract=contract_named(f"accounts.{contract}"),
                arguments={"slug": slug},
                expires_ms=wait.expires_ms,
                key=idempotency_key(request),
                now_ms=now_ms(),
            ),
            shape=shape_r,
        )


urlpatterns = [*project_urlpatterns, path("api/test/<str:contract>/<str:slug>", WorkspaceErasing.as_view())]

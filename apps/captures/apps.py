"""Wiring of the captures room."""

from django.apps import AppConfig


class CapturesConfig(AppConfig):
    """Sources with an honest statement of what was cut."""

    name = "apps.captures"
    label = "captures"

    def ready(self) -> None:
        """Publish the contract, let captures share a commit, and let a session's captures go with it."""
        from apps.captures import contracts
        from apps.captures.actions import purging
        from apps.captures.queries import sources
        from apps.core import dependents
        from apps.core.contracts import register
        from apps.core.serving import grouped_requests

        register(*contracts.ALL)
        grouped_requests.update({("POST", "/api/captures/sources"), ("POST", "/v1/sources/content")})
        dependents.register(
            dependents.Dependent(
                owner="session",
                name="captures",
                count=sources.count_of_session,
                digest_part=sources.digest_part_of_session,
                refusal=lambda **_: "",
                remove=purging.purge_of_session,
            )
        )

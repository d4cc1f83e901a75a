"""Wiring of the web room."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WebConfig(AppConfig):
    """The web room."""

    name = "apps.web"
    label = "web"

    def ready(self) -> None:
        """Give the admin our sign-in, our words, and nothing that deletes; let open pages hear of changes."""
        from django.contrib import admin

        from apps.web import consumers  # noqa: F401 (listens)
        from apps.web.views.sign_in import admin_password, admin_sign_in, sign_out

        site = admin.site
        site.site_header = site.site_title = _("Sayso records")
        site.index_title = _("Every record, for looking only")
        site.site_url = "/inbox/"
        site.enable_nav_sidebar = False
        site.disable_action("delete_selected")
        # One sign-in for the whole server, with its throttling; one place for the password; one way out.
        site.login = admin_sign_in  # type: ignore[method-assign]
        site.logout = sign_out  # type: ignore[method-assign,assignment]
        site.password_change = admin_password  # type: ignore[method-assign,assignment]

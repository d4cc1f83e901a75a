"""The admin as a whole: our sign-in, our style, nothing that deletes."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.web.views.sign_in import admin_password, admin_sign_in, sign_out

admin.site.site_header = _("Sayso records")
admin.site.site_title = _("Sayso records")
admin.site.index_title = _("Every record, for looking only")
admin.site.site_url = "/inbox/"
admin.site.enable_nav_sidebar = False
admin.site.disable_action("delete_selected")
# One sign-in for the whole server, with its throttling; one place for the password; one way out.
admin.site.login = admin_sign_in  # type: ignore[method-assign,assignment]
admin.site.logout = sign_out  # type: ignore[method-assign,assignment]
admin.site.password_change = admin_password  # type: ignore[method-assign,assignment]

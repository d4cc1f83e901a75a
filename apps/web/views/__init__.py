"""Server-rendered pages."""

from apps.web.views.person import PersonMiddleware

__all__ = ["PersonMiddleware"]

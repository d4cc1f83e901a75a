"""Routes of the gate."""

from django.urls import path

from apps.confirmations import api

urlpatterns = [
    path("api/confirmations", api.ConfirmationList.as_view()),
    path("api/confirmations/events", api.ConfirmationEvents.as_view()),
    path("api/confirmations/<str:confirmation_id>", api.ConfirmationDetail.as_view()),
    path("api/confirmations/<str:confirmation_id>/decision", api.Decision.as_view()),
    path("api/confirmations/<str:confirmation_id>/allow-again", api.AllowAgain.as_view()),
    path("api/inbox", api.Inbox.as_view()),
    path("api/inbox/<str:confirmation_id>", api.InboxCard.as_view()),
    path("api/receipts/<str:receipt_id>", api.ReceiptDetail.as_view()),
]

"""Routes of phones."""

from django.urls import path

from apps.devices import api

urlpatterns = [
    path("api/app-connections/authorization-codes/lan", api.PairingCodeMaking.as_view()),
    path("api/auth/app-login", api.AppLogin.as_view()),
    path("api/devices", api.DeviceList.as_view()),
    path("api/devices/<str:device_id>", api.DeviceDetail.as_view()),
]

from django.urls import path

from payments import views

urlpatterns = [
    path("webhook/", views.webhook),
    path("effects", views.effects),
]

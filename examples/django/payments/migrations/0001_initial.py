from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Handled",
            fields=[
                ("key", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Payment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event_id", models.CharField(db_index=True, max_length=255)),
                ("customer", models.CharField(max_length=255)),
                ("amount", models.BigIntegerField()),
            ],
        ),
    ]

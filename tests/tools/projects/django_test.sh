# manage.py test -v 2: migrations, hundreds of tests, one fails
version() { echo "Django $(python -m django --version)"; }
setup() {
python -m django startproject depot . && python manage.py startapp stock
cat > stock/models.py <<'EOF'
from django.db import models


class Item(models.Model):
    sku = models.CharField(max_length=20, unique=True)
    count = models.IntegerField(default=0)

    def take(self, count):
        self.count -= count
        self.save()
EOF
cat > stock/tests.py <<'EOF'
from django.db import IntegrityError
from django.test import TestCase

from .models import Item


class ItemTests(TestCase):
    def test_a_sku_is_unique(self):
        Item.objects.create(sku="A-1")
        with self.assertRaises(IntegrityError):
            Item.objects.create(sku="A-1")

    def test_no_more_is_taken_than_there_is(self):
        item = Item.objects.create(sku="B-2", count=3)
        item.take(5)
        item.refresh_from_db()
        self.assertEqual(item.count, 0)


def add(count):
    def test(self):
        item = Item.objects.create(sku=f"S-{count}", count=count)
        item.take(1)
        self.assertEqual(Item.objects.get(pk=item.pk).count, count - 1)

    setattr(ItemTests, f"test_taking_one_of_{count}_leaves_the_others", test)


for count in range(1, 181):
    add(count)
EOF
sed -i "s/INSTALLED_APPS = \[/INSTALLED_APPS = [\n    'stock',/" depot/settings.py
python manage.py makemigrations
}
run() { python manage.py test -v 2; }

# phpunit --testdox: a wrong total and a type error
version() { phpunit --version | cut -d" " -f1-2 | head -1; }
setup() {
mkdir -p tests
cat > tests/BasketTest.php <<'EOF'
<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class Basket
{
    private array $lines = [];

    public function put(string $sku, int $cents, int $count = 1): self
    {
        $this->lines[] = [$sku, $cents, $count];
        return $this;
    }

    public function total(): int
    {
        return array_sum(array_map(fn (array $line): int => $line[1] * $line[2], $this->lines));
    }
}

final class BasketTest extends TestCase
{
    public static function baskets(): iterable
    {
        foreach (['tea', 'coffee', 'cocoa', 'milk', 'sugar', 'honey', 'bread', 'butter', 'cheese', 'error', 'flour', 'yeast', 'salt', 'oil', 'rice', 'oats'] as $sku) {
            foreach (range(1, 14) as $count) {
                yield "$count of $sku" => [$sku, $count];
            }
        }
    }

    /** @dataProvider baskets */
    public function testTotalIsPriceTimesCount(string $sku, int $count): void
    {
        $discount = $sku === 'honey' && $count === 12 ? 100 : 0;
        $this->assertSame(250 * $count - $discount, (new Basket())->put($sku, 250, $count)->total());
    }

    public function testAPriceMayBeText(): void
    {
        $this->assertSame(199, (new Basket())->put('jam', '199')->total());
    }
}
EOF
}
run() { phpunit --testdox --colors=never tests; }

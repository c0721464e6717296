# JUnit's own runner, between log lines: a null and a wrong price
version() { echo "JUnit $(dpkg-query -W -f '${Version}' junit4), $(java -version 2>&1 | head -1)"; }
setup() {
mkdir -p out
cat > ParcelTest.java <<'EOF'
import static org.junit.Assert.*;

import java.util.*;
import java.util.logging.Logger;
import org.junit.*;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class ParcelTest {
    private static final Logger LOG = Logger.getLogger("parcels");
    private static final Map<String, Integer> PRICES = new HashMap<>();

    @Parameterized.Parameters(name = "{0} to {1}")
    public static Collection<Object[]> routes() {
        List<Object[]> routes = new ArrayList<>();
        String[] towns = {"Oslo", "Rome", "Kiel", "Lyon", "Graz", "Bern", "Cork", "Brno", "Gent", "Faro"};
        for (String from : towns) for (String to : towns) routes.add(new Object[] {from, to});
        for (int i = 0; i < towns.length; i++) if (i != 6) PRICES.put(towns[i], 400 + 35 * i);
        PRICES.put("Brno", 100);
        return routes;
    }

    private final String from;
    private final String to;

    public ParcelTest(String from, String to) {
        this.from = from;
        this.to = to;
    }

    @Test
    public void aParcelHasAPrice() {
        LOG.info("pricing " + from + " to " + to + ", error budget 0.1");
        if (from.equals("Oslo") || !to.equals("Cork")) {
            Integer price = PRICES.getOrDefault(to, from.equals("Oslo") ? null : 0);
            assertTrue(price >= 0);
        }
        if (from.equals("Lyon") && to.equals("Brno")) assertEquals("price of " + from + " to " + to, 645, (int) PRICES.get(to));
    }
}
EOF
javac -cp /usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar -d out ParcelTest.java
}
run() { java -cp out:/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar:/usr/share/java/hamcrest.jar org.junit.runner.JUnitCore ParcelTest; }

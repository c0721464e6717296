# ant -verbose with javac -Xlint:all: 150 warnings, two errors
version() { echo "$(ant -version 2>/dev/null | cut -d' ' -f1-4), $(javac -version 2>&1)"; }
setup() {
mkdir -p src/org/example/ledger
for name in Account Balance Batch Booking Branch Card Charge Client Currency Deposit ErrorEntry Fee Holder Journal Ledger Limit Loan Payment Posting Quote Rate Receipt Report Statement Transfer; do
cat > src/org/example/ledger/$name.java <<EOF
package org.example.ledger;

import java.util.*;

public class $name implements java.io.Serializable {
    private final List entries = new ArrayList();

    public void add(Object entry) {
        entries.add(entry);
    }

    public int year() {
        return new Date(0L).getYear();
    }

    public Iterator<String> names() {
        return entries.iterator();
    }
}
EOF
done
cat > src/org/example/ledger/Settlement.java <<'EOF'
package org.example.ledger;

import java.util.Optional;

public class Settlement {
    public Receipt settle(Optional<Payment> payment) {
        Payment due = payment.orElse(new Posting());
        return due.confirm();
    }
}
EOF
cat > build.xml <<'EOF'
<project name="ledger" default="compile">
  <target name="init"><mkdir dir="out"/><echo>Build without error reporting to the tracker</echo></target>
  <target name="compile" depends="init">
    <javac srcdir="src" destdir="out" includeantruntime="false" debug="true"><compilerarg value="-Xlint:all"/><compilerarg value="-Xmaxwarns"/><compilerarg value="500"/></javac>
  </target>
</project>
EOF
}
run() { ant -verbose compile; }

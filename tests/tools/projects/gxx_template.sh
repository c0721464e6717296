# g++ on a terminal: three wrong calls, pages of templates
# On a terminal.
version() { g++ --version | head -1; }
setup() {
cat > report.cpp <<'EOF'
#include <algorithm>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

struct Employee {
    std::string name;
    int salary;
};

int main() {
    std::vector<Employee> staff{{"Ada", 120}, {"Linus", 110}};
    std::list<Employee> bench{{"Grace", 130}};
    std::map<std::string, std::vector<Employee>> by_team{{"core", staff}};

    std::sort(bench.begin(), bench.end());
    std::set<Employee> unique(staff.begin(), staff.end());
    for (const auto &pair : by_team)
        std::cout << pair.first << ": " << pair.second << '\n';
    return static_cast<int>(unique.size());
}
EOF
}
run() { g++ -std=c++17 -fdiagnostics-color=always -c report.cpp -o report.o; }

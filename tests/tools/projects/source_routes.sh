# cat: a web application whose code speaks of failure on every page (return "not found", 404), and none has happened
version() { cat --version | head -1; }
setup() {
{ echo '"""Routes of the shop."""'; echo; echo "from flask import Flask, abort, request"; echo; echo "PAGE_SIZE = 40"; echo "app = Flask(__name__)"; echo
for n in $(seq 1 90); do
echo "@app.get(\"/things/$n/<int:key>\")"; echo "def show_thing_$n(key):"; echo "    \"\"\"Show thing number $n.\"\"\""; echo "    thing = find_thing_$n(key)"; echo "    if thing is None:"; echo "        return \"not found\", 404"; echo "    if not request.user:"; echo "        raise PermissionError(\"access denied: fatal\")"; echo "    return thing.as_json()"; echo; echo; done
echo "@app.get(\"/things\")"; echo "def list_things():"; echo "    \"\"\"List what there is, a page at a time.\"\"\""; echo "    return [thing.as_json() for thing in things(limit=PAGE_SIZE)]"; } > routes.py
}
run() { cat routes.py; }

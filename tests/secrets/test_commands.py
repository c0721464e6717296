"""Secrets in command lines: what goes, what stays, and that a second look finds nothing more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.secrets import commands as secrets
from spillover.secrets.commands import COMMAND_CHARS, redact, shorten_command

# Put together here, so that nobody who looks for secrets in a repository finds some in this one.
DIGITS = "0123456789abcdefABCDEF0123456789abcdef"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB, PAT = "ghp_" + DIGITS[:36], "github_pat_" + DIGITS
GITLAB, SLACK, NPM = "glpat-" + DIGITS[:20], "xox" + "b-1234567890-" + DIGITS[:12], "npm_" + DIGITS[:36]
OPENAI, CLAUDE, GOOGLE = "sk-" + "proj-" + DIGITS, "sk-" + "ant-api03-" + DIGITS, "AIza" + DIGITS[:35]
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow" + DIGITS + "\n-----END RSA PRIVATE KEY-----"

#: A command, and what is shown of it. `{}` is where the secret was.
TABLE = [
    ("curl -H 'Authorization: Bearer hunter2' https://a.b/c", "curl -H 'Authorization: [redacted: authorization]' https://a.b/c"),
    ('curl -H "Authorization: Basic aHVudGVyMg==" https://a.b', 'curl -H "Authorization: [redacted: authorization]" https://a.b'),
    ("curl -H Authorization: Bearer hunter2 https://a.b", "curl -H Authorization: [redacted: authorization] https://a.b"),
    ("curl -H Authorization: hunter2 https://a.b", "curl -H Authorization: [redacted: authorization] https://a.b"),
    ("curl -H Authorization: Custom hunter2 -v", "curl -H Authorization: [redacted: authorization] -v"),
    ("http a.b 'proxy-authorization:Digest u=1, r=2'", "http a.b 'proxy-authorization:[redacted: authorization]'"),
    ("curl -H 'X-Api-Key: hunter2' a.b", "curl -H 'X-Api-Key: [redacted: header]' a.b"),
    ("curl -H PRIVATE-TOKEN: hunter2 a.b", "curl -H PRIVATE-TOKEN: [redacted: header] a.b"),
    ("curl -H 'Cookie: sid=hunter2; b=c' a.b", "curl -H 'Cookie: [redacted: cookie]' a.b"),
    ("curl -H Cookie: sid=hunter2; b=c a.b", "curl -H Cookie: [redacted: cookie] a.b"),
    ("curl -u me:hunter2 a.b", "curl -u me:[redacted: password] a.b"),
    ("curl --user 'me:hunter2' a.b", "curl --user 'me:[redacted: password]' a.b"),
    ("git clone https://me:hunter2@a.b/c.git", "git clone https://me:[redacted: password]@a.b/c.git"),
    ("psql postgres://me:hunt@er2@db:5432/x", "psql postgres://me:[redacted: password]@db:5432/x"),
    ("redis-cli -u redis://:hunter2@h:6379", "redis-cli -u redis://:[redacted: password]@h:6379"),
    ("mongosh 'mongodb+srv://u:hunter2@c.mongodb.net/?x=1'", "mongosh 'mongodb+srv://u:[redacted: password]@c.mongodb.net/?x=1'"),
    ("tool --password hunter2 --verbose", "tool --password [redacted: password] --verbose"),
    ("tool --password=hunter2 x", "tool --password=[redacted: password] x"),
    ("tool --db-password='hunt er2' x", "tool --db-password='[redacted: password]' x"),
    ("tool --token=hunter2", "tool --token=[redacted: token]"),
    ("tool --auth-token hunter2", "tool --auth-token [redacted: token]"),
    ("tool --client-secret hunter2", "tool --client-secret [redacted: secret]"),
    ("tool --api-key hunter2 run", "tool --api-key [redacted: key] run"),
    ("terraform apply -token=hunter2", "terraform apply -token=[redacted: token]"),
    ("gpg --passphrase hunter2 -d f", "gpg --passphrase [redacted: password] -d f"),
    ("keytool -storepass hunter2 -list", "keytool -storepass [redacted: password] -list"),
    ("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=[redacted: password] psql -h db"),
    ("MYSQL_PWD=hunter2 mysql", "MYSQL_PWD=[redacted: password] mysql"),
    ("export GITHUB_TOKEN='hunter2'; make", "export GITHUB_TOKEN='[redacted: token]'; make"),
    ("env AWS_SECRET_ACCESS_KEY=hunt/er2+ aws s3 ls", "env AWS_SECRET_ACCESS_KEY=[redacted: key] aws s3 ls"),
    ("DJANGO_SECRET_KEY=hunter2 ./manage.py", "DJANGO_SECRET_KEY=[redacted: key] ./manage.py"),
    ("docker run -e API_KEY=hunter2 -e X=1 img", "docker run -e API_KEY=[redacted: key] -e X=1 img"),
    ("curl 'https://a.b/?api_key=hunter2&x=1'", "curl 'https://a.b/?api_key=[redacted: key]&x=1'"),
    ("curl -d 'user=me&password=hunter2&x=1' a.b", "curl -d 'user=me&password=[redacted: password]&x=1' a.b"),
    ("""curl -d '{"user": "me", "password": "hunter2"}' a.b""", """curl -d '{"user": "me", "password": "[redacted: password]"}' a.b"""),
    (r"""curl -d "{\"token\":\"hunter2\"}" a.b""", r"""curl -d "{\"token\":\"[redacted: token]\"}" a.b"""),
    ("sqlcmd 'Server=a;Uid=b;Pwd=hunter2;X=1'", "sqlcmd 'Server=a;Uid=b;Pwd=[redacted: password];X=1'"),
    ("az x 'AccountName=a;AccountKey=hunter2==;X=1'", "az x 'AccountName=a;AccountKey=[redacted: key];X=1'"),
    ("DB_PASS=hunter2 ./run", "DB_PASS=[redacted: password] ./run"),
    ("make PASS=hunter2 x", "make PASS=[redacted: password] x"),
    ("git clone https://x0auth-hunter2-abcdef99@a.b/c.git", "git clone https://[redacted: token]@a.b/c.git"),
    ("set -gx API_TOKEN 'hunter2'; ls", "set -gx API_TOKEN '[redacted: token]'; ls"),
    (r"TOKEN=$'hunter2\n' ls", "TOKEN=$'[redacted: token]' ls"),
    ("mysql -u root -phunter2 db", "mysql -u root -p[redacted: password] db"),
    ("mysqldump -p'hunt er2' db", "mysqldump -p'[redacted: password]' db"),
    ("sshpass -p hunter2 ssh me@a.b", "sshpass -p [redacted: password] ssh me@a.b"),
    ("redis-cli -h a -a hunter2 ping", "redis-cli -h a -a [redacted: password] ping"),
    ("docker login -u me -p hunter2 reg.io", "docker login -u me -p [redacted: password] reg.io"),
    ("echo hunter2 | docker login -u me --password-stdin", "echo [redacted: password] | docker login -u me --password-stdin"),
    ("echo 'hunter2' | sudo -S apt update", "echo '[redacted: password]' | sudo -S apt update"),
    ("vault login hunter2", "vault login [redacted: token]"),
    ("unzip -P hunter2 a.zip", "unzip -P [redacted: password] a.zip"),
    ("7z x -phunter2 a.7z", "7z x -p[redacted: password] a.7z"),
    ("openssl enc -d -pass pass:hunter2 -in f", "openssl enc -d -pass pass:[redacted: password] -in f"),
    ("ldapsearch -D cn=x -w hunter2 -b y", "ldapsearch -D cn=x -w [redacted: password] -b y"),
    ("smbclient -U 'me%hunter2' //h/s", "smbclient -U 'me%[redacted: password]' //h/s"),
    ("htpasswd -bc f me hunter2", "htpasswd -bc f me [redacted: password]"),
    ("aws configure set aws_secret_access_key hunter2", "aws configure set aws_secret_access_key [redacted: key]"),
    ("npm config set //r.io/:_authToken hunter2", "npm config set //r.io/:_authToken [redacted: token]"),
    ("git config --global x.token hunter2", "git config --global x.token [redacted: token]"),
    (f"echo {AWS}", "echo [redacted: aws key]"),
    (f"gh x {GITHUB} y", "gh x [redacted: github token] y"),
    (f"git push https://{GITHUB}@github.com/a/b", "git push https://[redacted: github token]@github.com/a/b"),
    (f"x {PAT}", "x [redacted: github token]"),
    (f"x {GITLAB}", "x [redacted: gitlab token]"),
    (f"x {OPENAI} {CLAUDE}", "x [redacted: api key] [redacted: api key]"),
    (f"x {SLACK}", "x [redacted: slack token]"),
    (f"x {NPM}", "x [redacted: npm token]"),
    (f"x {GOOGLE}", "x [redacted: google key]"),
    (f"x {JWT}.", "x [redacted: jwt]"),
    (f"echo '{KEY}' > k", "echo '[redacted: private key]' > k"),
    (f"echo '{KEY[:60]}", "echo '[redacted: private key]"),
    ("curl https://hooks.slack.com/services/T1/B2/hunter2", "curl https://hooks.slack.com/services/[redacted: webhook]"),
    ("curl https://api.telegram.org/bot123456789:" + DIGITS + "/x", "curl https://api.telegram.org/bot[redacted: telegram token]/x"),
    ("DB_PASSWORD=hun$ter(2 ./run", "DB_PASSWORD=[redacted: password] ./run"),
    ("python -c 'f(password=my_hunter2)'", "python -c 'f(password=[redacted: password])'"),
    ("docker login x && docker -p x login -u me -p hunter2; ls", "docker login x && docker -p x login -u me -p [redacted: password]; ls"),
    ("tool --password 'left open hunter2", "tool --password '[redacted: password]"),
]  # fmt: skip

#: Ordinary commands: they stay byte for byte.
ORDINARY = [
    "", "ls -la", "pytest -x -k token", "make -j8 PASS=1", "cd /work && cargo test --workspace", "git log --oneline -p",
    "spill --tokens 4000 --tokenizer o200k_base", "SPILLOVER_TOKENS=4000 spill config", "llm --max-tokens 100", "x --max-token=100",
    "mysql -u root -p db -P 3306", "docker run -u 1000:1000 -p 8080:80 img", "ssh -p 2222 git@a.b", "git clone ssh://git@a.b/c",
    "curl https://a.b:8080/c?email=me@a.b", "curl -u me a.b", "PWD=/home/me OLDPWD=/x ls", "tool --password-file /run/secrets/p",
    "docker login -u me --password-stdin < f", "tool --password $PASSWORD", 'tool --token "$GITHUB_TOKEN"', "tool --token=${TOKEN}",
    'curl -H "X-Api-Key: $KEY"', "TOKEN=$(cat f) x", 'curl -H "Authorization: Bearer $TOKEN"', "curl -H 'authorization: token <TOKEN>'", "export SECRET=", "tool --token --verbose", "tool --private-key ~/.ssh/id_rsa",
    "tool --private-key ./key.pem", "kubectl get secret my-secret -o yaml", "aws secretsmanager get-secret-value --secret-id prod/x",
    "grep -rn password src/", "rg 'api_key|token' --glob '*.py'", "git commit -m 'Fix token: handle expiry'", "sed -i 's/password/x/' f",
    "python -c 'token = next(it)'", "python -c 'f(token=get_token())'", "python -c 'x(password=None)'", "if token == 5: pass",
    "echo basic usage", "tail -f bearer.log", "cat task-sk-learn-model.txt", "pip install scikit-learn", "cat sk-estimator-html-doc-link-1234-abc", "npm_config_loglevel=silent npm i",
    "git config credential.helper store", "echo one | sudo tee f", "cat .env.example", "make PASS=3 FAIL=0", "git clone https://some-user@a.b/c.git", "set -e", "compass=north x", "zip -r a.zip b", "caf\u00e9 \ud800 \x00 日本", "[redacted: token] x",
]  # fmt: skip


@pytest.mark.parametrize(("command", "shown"), TABLE)
def test_a_secret_goes_and_all_around_it_stays(command, shown):
    assert redact(command) == shown
    assert "hunter2" not in shown


@pytest.mark.parametrize("command", ORDINARY)
def test_an_ordinary_command_stays_byte_for_byte(command):
    assert redact(command) == command


def test_it_is_found_in_the_middle_of_a_longer_line():
    for command, shown in TABLE:
        if "left open" in command or command.count("-----") == 2 or command.startswith(("MYSQL", "PG", "DJANGO")):
            continue
        assert redact(f"cd /work && {command}\nls") == f"cd /work && {shown}\nls", command


@pytest.mark.parametrize("text", [command for command, _ in TABLE] + ORDINARY)
def test_a_second_look_changes_nothing(text):
    assert redact(redact(text)) == redact(text)


PIECES = st.sampled_from(
    [*" \n\t'\"\\;&|<>()[]{}$=:@-/x", "[redacted: token]", "[redacted: ", "hunter2", "$TOKEN", "--password", "--token=", "password=",
     "Authorization: ", "Bearer ", "Custom ", "Cookie: a=", "X-Api-Key: ", "https://", "u:p@h", "curl -u a:", "mysql -p", "docker login -p ",
     "echo ", "| sudo -S", "API_KEY=", '"secret": "', "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "config set ", "pass:",
     AWS, GITHUB, JWT, OPENAI, "pwd=", "sig=", "sk-", "1000:1000", "é", "\ud800"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join))
def test_whatever_the_text_a_second_look_changes_nothing_and_there_is_an_end_to_it(text):
    once = redact(text)
    assert redact(once) == once
    assert len(once) <= 40 * len(text)
    shown = shorten_command(text)
    assert shorten_command(shown) == shown
    assert len(shown) <= COMMAND_CHARS


@pytest.mark.parametrize("text", ["[redacted:     Cookie: a=", "[redacted: " * 3 + "Cookie: a=b", "[redacted: ] --token=hunter2", "[redacted: my --token=hunter2]", "[redacted: tokenx", "AKIAIOSFODNN7EXAMPLEdocker login -p hunter2:1"])  # fmt: skip
def test_the_words_of_a_mark_hide_nothing_and_stop_nothing(text):
    once = redact(text)
    assert redact(once) == once
    assert "hunter2" not in once


@given(st.text())
def test_any_text_at_all_passes(text):
    assert redact(redact(text)) == redact(text)


@given(st.integers(0, 30), st.sampled_from([AWS, GITHUB, OPENAI, JWT, NPM, "https://u:hunter2hunter2@h"]))
def test_a_secret_at_the_cut_is_not_left_in_half(back, secret):
    command = "x" * (COMMAND_CHARS - len(secret) // 2 - back - 1) + " " + secret + " more" * 10
    shown = shorten_command(command)
    assert len(shown) <= COMMAND_CHARS
    assert not any(secret[:size] in shown for size in range(9, len(secret))) or "https" in secret
    assert "hunter2" not in shown
    assert shorten_command(command[:COMMAND_CHARS]) == shorten_command(shown)


def test_nothing_is_loaded_for_a_command_without_a_word_of_it(monkeypatch):
    monkeypatch.setattr(secrets, "_rule", None)
    for command in ("ls -la", "pytest -x", "cargo test --workspace", "make -j8 && ./run"):
        assert redact(command) == command


@pytest.mark.parametrize("unit", ["password=", "mysql ", "docker login ", "https://a:", "echo x ", "'", "-----BEGIN PRIVATE KEY-----", "Cookie: a=b; ", "[redacted: "])  # fmt: skip
def test_a_long_command_is_shortened_before_it_is_searched_for_secrets(unit, grows_as_fast_as_its_text):
    def work(size):
        text = unit * (size // len(unit))
        return lambda: shorten_command(text)

    work(1_000)()
    grows_as_fast_as_its_text(work, 20_000, 320_000, margin=6, floor=0.000_5)

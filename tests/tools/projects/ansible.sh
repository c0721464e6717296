# ansible-playbook -v in colours: eighteen tasks on three hosts, one fails on one host
version() { ansible-playbook --version | head -1; }
setup() {
printf '[web]\nweb1 ansible_connection=local\nweb2 ansible_connection=local\nweb3 ansible_connection=local\n' > hosts
python - <<'EOF' > site.yml
names = "motd issue limits ntp syslog cron sudoers sshd errors_page robots vhost_a vhost_b tls_params ciphers logrotate metrics backup".split()
print("- hosts: web\n  gather_facts: false\n  tasks:")
for name in names:
    print(f"    - name: Write the settings of {name}\n      ansible.builtin.copy:\n        dest: '{{{{ playbook_dir }}}}/out/{{{{ inventory_hostname }}}}/{name}.conf'\n        content: |\n          # managed\n          on_error = retry\n          name = {name}")
    if name == "vhost_b":
        print("    - name: Check the configuration of the web server\n      ansible.builtin.command:\n        argv: [python3, '{{ playbook_dir }}/check.py', '{{ inventory_hostname }}']")
EOF
printf 'import sys\nif sys.argv[1] == "web2":\n    sys.exit("nginx.conf:14: unknown directive servername")\n' > check.py
mkdir -p out/web1 out/web2 out/web3
}
run() { ANSIBLE_FORCE_COLOR=1 ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3 ansible-playbook -v -f 1 -i hosts site.yml; }

# terraform plan in colours: sixty resources to create, and one to destroy
version() { terraform version | head -1; }
setup() {
cat > main.tf <<'EOF'
resource "terraform_data" "worker" {
  count = 60
  input = { name = "worker-${count.index}", zone = "eu-north-1${["a", "b", "c"][count.index % 3]}", size = "m5.large", disk = 80 }
}

resource "terraform_data" "ledger" {
  input            = { name = "ledger", engine = "postgres", backups = 30 }
  triggers_replace = ["eu-north-1"]
}

output "workers" { value = length(terraform_data.worker) }
EOF
CHECKPOINT_DISABLE=1 terraform init
CHECKPOINT_DISABLE=1 terraform apply -auto-approve -target=terraform_data.ledger
sed -i 's/triggers_replace = \["eu-north-1"\]/triggers_replace = ["eu-west-1"]/' main.tf
}
run() { CHECKPOINT_DISABLE=1 terraform plan; }

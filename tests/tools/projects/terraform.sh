# terraform apply in colours: twenty resources, one provisioner fails
version() { terraform version | head -1; }
setup() {
cat > main.tf <<'EOF'
variable "buckets" { default = ["audit", "backups", "exports", "images", "invoices", "logs", "mails", "reports", "errors", "uploads"] }

resource "terraform_data" "bucket" {
  for_each         = toset(var.buckets)
  input            = { name = each.key, region = "eu-north-1", versioned = true }
  triggers_replace = [each.key]
}

resource "terraform_data" "policy" {
  for_each = terraform_data.bucket
  input    = "allow read on ${each.key}"
  provisioner "local-exec" {
    command = "echo checking ${each.key}; test ${each.key} != mails || { echo \"policy for ${each.key}: principal arn:aws:iam::123456789012:role/mailer does not exist\" >&2; exit 4; }"
  }
}

output "names" { value = [for bucket in terraform_data.bucket : bucket.output.name] }
EOF
CHECKPOINT_DISABLE=1 terraform init
}
run() { CHECKPOINT_DISABLE=1 terraform apply -auto-approve -parallelism=2; }

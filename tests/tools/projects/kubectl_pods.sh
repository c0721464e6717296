# JSON as kubectl get pods -o json prints it: thirty pods that run, one that crashes, in one place deep inside
version() { python3 --version; }
setup() {
cat > pods.py <<'EOF'
import json

def pod(n, bad):
    name = f"checkout-7d9c5b8f6b-{n:02d}xk"
    running = {"running": {"startedAt": "2026-03-02T08:11:09Z"}}
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=checkout"}}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "checkout", "pod-template-hash": "7d9c5b8f6b"}, "creationTimestamp": "2026-03-02T08:10:58Z", "uid": f"5f3c2a{n:02d}-1b7e-4c0a-9d55-0c9d1e7f{n:02d}aa"},
        "spec": {"nodeName": f"node-{n % 5}", "restartPolicy": "Always", "serviceAccountName": "default", "containers": [{"name": "checkout", "image": "registry.example.org/checkout:2.4.1", "resources": {"limits": {"memory": "256Mi"}}, "ports": [{"containerPort": 8080, "protocol": "TCP"}], "volumeMounts": [{"mountPath": "/var/run/secrets", "name": "token", "readOnly": True}]}]},
        "status": {"phase": "Running", "hostIP": f"10.0.0.{n % 5}", "podIP": f"10.1.0.{n}", "qosClass": "Burstable", "conditions": [{"type": kind, "status": "False" if bad and kind == "Ready" else "True"} for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")], "containerStatuses": [{"name": "checkout", "ready": not bad, "restartCount": 17 if bad else 0, "image": "registry.example.org/checkout:2.4.1", "state": waiting if bad else running}]},
    }

print(json.dumps({"apiVersion": "v1", "items": [pod(n, n == 19) for n in range(31)], "kind": "List", "metadata": {"resourceVersion": ""}}, indent=4))
EOF
}
run() { python3 pods.py; }

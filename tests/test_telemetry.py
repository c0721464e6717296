"""What OpenTelemetry hears: in a process of its own, since a provider is set once and for all."""

import json
import logging
import subprocess
import sys

from spillover import Clipper, Limits, MemoryStore

PROGRAM = """
import json, sys
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from spillover import Clipper, Limits, MemoryStore
from spillover.testing import FailingStore

spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
metrics.set_meter_provider(MeterProvider([reader]))

LOG = "".join(f"{number} confidential words\\n" for number in range(5_000))
clipper = Clipper(Limits(tokens=300), store=MemoryStore())
with trace.get_tracer("host").start_as_current_span("execute_tool make"):
    clip = clipper.clip(LOG, tool="make", call_id="call_1")
clipper.clip("short", tool="ls")
clipper.clip(LOG + "more", tool="make")
clipper.read(clip.ref, lines="5:9")
clipper.grep(clip.ref, "4999 ")
Clipper(Limits(tokens=300), store=FailingStore(MemoryStore())).clip(LOG, tool="make")
told = [
    {"name": span.name, "attributes": dict(span.attributes), "events": [{"name": one.name, "attributes": dict(one.attributes)} for one in span.events]}
    for span in spans.get_finished_spans()
]
counted = {}
for resource in reader.get_metrics_data().resource_metrics:
    for scope in resource.scope_metrics:
        for metric in scope.metrics:
            counted[metric.name] = sum(getattr(point, "value", getattr(point, "count", 0)) for point in metric.data.data_points)
print(json.dumps({"spans": told, "metrics": counted, "ref": clip.ref, "sha256": clip.sha256, "tokens": [clip.total.tokens, clip.shown.tokens]}))
"""


def test_a_clip_is_an_event_on_the_current_span_or_a_span_of_its_own_and_is_counted():
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    first, *others = told["spans"]
    (event,) = first["events"]
    assert (first["name"], event["name"]) == ("execute_tool make", "spillover.clip")
    facts = event["attributes"]
    assert facts["spillover.ref"] == told["ref"]
    assert facts["spillover.digest"] == f"sha256:{told['sha256']}"
    assert (facts["spillover.lines"], facts["spillover.outcome"], facts["gen_ai.tool.call.id"]) == (
        5_000,
        "stored",
        "call_1",
    )
    assert [facts["spillover.tokens"], facts["spillover.shown.tokens"]] == told["tokens"]
    assert facts["gen_ai.operation.name"] == "execute_tool"
    assert [span["name"] for span in others] == [
        "execute_tool ls",
        "execute_tool make",
        "execute_tool read_output",
        "execute_tool grep_output",
        "execute_tool make",
    ]
    assert others[-1]["attributes"]["spillover.outcome"] == "lost"
    counted = told["metrics"]
    assert (counted["spillover.clips"], counted["spillover.retrievals"], counted["spillover.failures"]) == (4, 2, 1)
    assert counted["spillover.stored"] > 200_000
    assert counted["spillover.tokens.hidden"] > counted["spillover.tokens.fetched"] > 0
    assert counted["spillover.duration"] == 6
    assert "confidential" not in ran.stdout, "content is never recorded"


def test_nothing_is_imported_where_nobody_traces():
    code = "import sys; from spillover import Clipper, Limits, MemoryStore; Clipper(Limits(tokens=300), store=MemoryStore()).clip('x' * 99_999); print([name for name in sys.modules if 'telemetry' in name and 'opentelemetry' in name])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_log_carries_the_same_facts(caplog):
    with caplog.at_level(logging.DEBUG, logger="spillover"):
        clip = Clipper(Limits(tokens=300), store=MemoryStore()).clip("secret words\n" * 9_000, tool="make")
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("Clipped an output of make: outcome stored, ref ")
    for fact in (clip.ref, f"sha256:{clip.sha256}", "bytes 117000", "lines 9000"):
        assert fact in said
    assert "secret words" not in said

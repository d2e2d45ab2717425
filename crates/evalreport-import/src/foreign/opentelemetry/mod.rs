//! OpenTelemetry's conventions for generative AI: traces of agents, and events with evaluations of them, as OTLP in JSON.
//!
//! All files of a folder belong together, because spans and events are written to separate files. A trace is one attempt at one item. The
//! traces of one process of a service, by one agent with one model, are a run. Collectors sometimes export a span again: each counts once.

mod trace;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{CostSource, ItemDetails, ItemKind, ItemStatus, Problem, Resources, Usage};
use crate::transcript::ModelRequest;

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::attempts::AttemptNumbers;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_text};
use super::json_reader::{has_second_line, read_lines_to_cut, read_list, read_object};
use super::peek::{ContentKind, Peek};
use super::session::cost_of_requests;
use super::sink::{ImportSink, clip_text};
use super::source::{ForeignFile, ForeignFileGroup};
use super::times::time_from_unix_seconds;
use trace::{AgentTrace, TraceEvaluation};
use wire::{LogRecord, OtlpExport, ResourceLogs, ResourceSpans};

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "opentelemetry",
        title: "OpenTelemetry",
        kind: ItemKind::Question,
        reads_names: false,
        version: 3,
    },
    claim_file,
    read_source,
)
.with_prices();

const SPANS_KEY: &str = "resourceSpans";
const LOGS_KEY: &str = "resourceLogs";
const EVALUATION_EVENT: &str = "gen_ai.evaluation.result";
/// Evaluator of every trace: whether it ended without an error.
const TRACE_EVALUATOR: &str = "trace";

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_otlp = [SPANS_KEY, LOGS_KEY]
        .iter()
        .any(|list| peek.has(list) || peek.has(&format!("[].{list}")));
    let is_ours = peek.content == ContentKind::Json
        && is_otlp
        && memmem::find(&peek.head, b"gen_ai.").is_some();
    let folder = peek.path.parent()?;
    is_ours.then(|| {
        Claim::PartOf(if folder.as_os_str().is_empty() {
            ".".into()
        } else {
            folder.to_owned()
        })
    })
}

/// Content of the files.
#[derive(Default)]
struct TraceCollector {
    by_id: BTreeMap<String, AgentTrace>,
    spans: BTreeSet<(String, String)>,
    /// Trace and span of each response, for events that name no trace.
    responses: BTreeMap<String, (String, String)>,
    events: Vec<(Option<String>, Option<String>, TraceEvaluation)>,
    repeated: u64,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut traces = TraceCollector::default();
    for file in &source.files {
        traces.read_file(file, sink)?;
    }
    if traces.by_id.is_empty() && traces.events.is_empty() {
        return Err(Problem::in_file(
            &source.shown,
            "holds no span of a model, an agent or a tool",
        )
        .into());
    }
    if traces.repeated > 0 {
        sink.note_quirk(&format!(
            "repeated spans and events, counted once: {}",
            traces.repeated
        ));
    }
    traces.assign_evaluations(sink);
    traces.add_runs(sink)
}

impl TraceCollector {
    fn read_file(&mut self, file: &ForeignFile, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
        let peek = Peek::from_source_file(file)?;
        // A single export may be a line of any length. It is read piece by piece, unlike lines.
        let is_long = !peek.is_lines && !peek.head.contains(&b'\n');
        if peek.is_lines || (is_long && has_second_line(file.open()?, &file.shown)?) {
            let cut = read_lines_to_cut(file.open()?, &file.shown, &mut |number,
                                                                         export: Result<
                Lenient<OtlpExport>,
                Refused,
            >| {
                self.add_export(export, &format!("{}:{number}", file.name), sink);
                Ok(())
            })?;
            if cut.is_some() {
                sink.note_quirk("a truncated last line is skipped");
            }
            return Ok(());
        }
        if peek.has("[]") {
            let mut number = 0;
            return read_list(file.open()?, &file.shown, &mut |export: Lenient<
                OtlpExport,
            >| {
                number += 1;
                self.add_export(Ok(export), &format!("{}, export {number}", file.name), sink);
                Ok(())
            });
        }
        let _: IgnoredAny = read_object(
            file.open()?,
            &file.shown,
            &[],
            SPANS_KEY,
            &mut |spans: Lenient<ResourceSpans>| {
                spans.0.iter().for_each(|spans| self.add_spans(spans));
                Ok(())
            },
        )?;
        let _: IgnoredAny = read_object(
            file.open()?,
            &file.shown,
            &[],
            LOGS_KEY,
            &mut |logs: Lenient<ResourceLogs>| {
                logs.0.iter().for_each(|logs| self.add_logs(logs));
                Ok(())
            },
        )?;
        Ok(())
    }

    fn add_export(
        &mut self,
        export: Result<Lenient<OtlpExport>, Refused>,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) {
        match export.and_then(|export| {
            export
                .0
                .ok_or_else(|| Refused::new("the export is no object"))
        }) {
            Ok(export) => {
                export
                    .resource_spans
                    .iter()
                    .for_each(|spans| self.add_spans(spans));
                export
                    .resource_logs
                    .iter()
                    .for_each(|logs| self.add_logs(logs));
            }
            Err(why) => sink.refuse_part(place, why),
        }
    }

    fn add_spans(&mut self, of_resource: &ResourceSpans) {
        let nothing = wire::OtlpResource::default();
        let resource = of_resource.resource.0.as_ref().unwrap_or(&nothing);
        let of = |key: &str| resource.attributes.text(&[key]);
        for span in of_resource
            .scope_spans
            .iter()
            .flat_map(|scope| scope.spans.iter())
        {
            let (Some(id), Some(own)) = (to_text(&span.trace_id), to_text(&span.id)) else {
                continue;
            };
            if !self.spans.insert((id.clone(), own.clone())) {
                self.repeated += 1;
                continue;
            }
            if let Some(response) = span.attributes.text(&["gen_ai.response.id"]) {
                self.responses.insert(response, (id.clone(), own.clone()));
            }
            for event in span
                .events
                .iter()
                .filter(|event| event.name == EVALUATION_EVENT)
            {
                self.add_event(
                    Some(id.clone()),
                    TraceEvaluation::from_attributes(&event.attributes, own.clone()),
                    None,
                );
            }
            let trace = self.by_id.entry(id).or_default();
            if trace.service.is_empty() {
                trace.service = of("service.name").unwrap_or_default();
                trace.instance = of("service.instance.id").unwrap_or_default();
                trace.version = of("service.version");
                trace.machine = read_machine(&resource.attributes);
            }
            trace.add_span(
                span,
                to_text(&span.parent_span_id)
                    .as_deref()
                    .filter(|parent| !parent.is_empty()),
            );
        }
    }

    fn add_logs(&mut self, of_resource: &ResourceLogs) {
        for record in of_resource
            .scope_logs
            .iter()
            .flat_map(|scope| scope.log_records.iter())
        {
            let LogRecord {
                trace_id,
                span_id,
                event_name,
                attributes,
            } = record;
            let is_evaluation = event_name == EVALUATION_EVENT
                || attributes.text(&["event.name"]).as_deref() == Some(EVALUATION_EVENT);
            if is_evaluation {
                let filled =
                    |value: &Value| to_text(value).filter(|id| !id.trim_matches('0').is_empty());
                let evaluation = TraceEvaluation::from_attributes(
                    attributes,
                    filled(span_id).unwrap_or_default(),
                );
                self.add_event(
                    filled(trace_id),
                    evaluation,
                    attributes.text(&["gen_ai.response.id"]),
                );
            }
        }
    }

    fn add_event(
        &mut self,
        trace: Option<String>,
        evaluation: Option<TraceEvaluation>,
        response: Option<String>,
    ) {
        self.events
            .extend(evaluation.map(|evaluation| (trace, response, evaluation)));
    }

    /// Assigns the evaluations to their traces.
    fn assign_evaluations(&mut self, sink: &mut ImportSink<'_>) {
        let mut seen = BTreeSet::new();
        for (trace, response, mut evaluation) in std::mem::take(&mut self.events) {
            let answered = response.and_then(|response| self.responses.get(&response).cloned());
            if let Some((_, span)) = answered.as_ref().filter(|_| evaluation.span.is_empty()) {
                evaluation.span.clone_from(span);
            }
            let id = trace
                .filter(|id| self.by_id.contains_key(id))
                .or_else(|| answered.map(|(trace, _)| trace));
            let Some(found) = id.as_ref().and_then(|id| self.by_id.get_mut(id)) else {
                sink.refuse_part(
                    &evaluation.name,
                    Refused::new("the evaluation is of a trace that is not there"),
                );
                continue;
            };
            let key = (
                id,
                evaluation.span.clone(),
                evaluation.name.clone(),
                format!("{:?}{:?}", evaluation.score, evaluation.label),
            );
            if seen.insert(key) {
                found.evaluations.push(evaluation);
            } else {
                sink.note_quirk("repeated evaluations count once");
            }
        }
    }

    fn add_runs(&self, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
        let mut runs: BTreeMap<[String; 4], Vec<(&String, &AgentTrace)>> = BTreeMap::new();
        for (id, trace) in &self.by_id {
            let agent = trace.agent.clone().unwrap_or_else(|| trace.service.clone());
            let key = [
                trace.service.clone(),
                agent,
                trace.model_names(),
                trace.instance.clone(),
            ];
            runs.entry(key).or_default().push((id, trace));
        }
        for ([service, agent, model, instance], mut traces) in runs {
            // Ordered by start, so that attempts at a case are numbered in order.
            traces.sort_by(|(left, one), (right, other)| {
                let begin = |trace: &AgentTrace| trace.times.map_or(0.0, |(start, _)| start);
                begin(one)
                    .total_cmp(&begin(other))
                    .then_with(|| left.cmp(right))
            });
            let suite = if service.is_empty() {
                "traces"
            } else {
                &service
            };
            let Some(run) = sink.begin_run(
                &[&service, &agent, &model, &instance],
                [suite, &agent, &model],
            ) else {
                continue;
            };
            let mut attempts = AttemptNumbers::default();
            for (id, trace) in &traces {
                add_trace(run, id, trace, &mut attempts, sink)?;
            }
            fill_run(run, &traces, sink);
        }
        Ok(())
    }
}

fn add_trace(
    run: super::sink::RunHandle,
    id: &str,
    trace: &AgentTrace,
    attempts: &mut AttemptNumbers,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let item = trace.case.as_deref().unwrap_or(id);
    // A conversation is of one run. A case is asked in several, so it is in no conversation.
    let cluster = trace.conversation.clone().filter(|_| trace.case.is_none());
    let mut names = BTreeSet::new();
    for evaluation in &trace.evaluations {
        let status = evaluation.status();
        if status == ItemStatus::Skipped {
            sink.note_quirk("evaluations without a label for pass or fail are kept as scores, outside of the pass rate");
        }
        // If an evaluator judged several spans of a trace, each span is an item.
        let judged = if names.insert(&evaluation.name) {
            item.to_owned()
        } else {
            format!("{item}/{}", evaluation.span)
        };
        let mut outcome = sink.new_outcome(run, &judged, status);
        outcome.evaluator.clone_from(&evaluation.name);
        outcome.attempt = attempts.next_attempt(&judged, &evaluation.name);
        outcome.cluster.clone_from(&cluster);
        outcome.score = evaluation.score;
        let reason = evaluation
            .error
            .clone()
            .or_else(|| evaluation.explanation.clone());
        let details = ItemDetails {
            reason,
            answer: evaluation.label.clone(),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, &format!("trace {id}"), outcome, details)?;
    }
    let usage = trace.sum_usage();
    let mut outcome = sink.new_outcome(
        run,
        item,
        if trace.error.is_some() {
            ItemStatus::Error
        } else {
            ItemStatus::Pass
        },
    );
    outcome.kind = ItemKind::Check;
    TRACE_EVALUATOR.clone_into(&mut outcome.evaluator);
    outcome.attempt = attempts.next_attempt(item, TRACE_EVALUATOR);
    outcome.cluster = cluster;
    outcome.duration_seconds = trace.times.map(|(start, end)| end - start);
    outcome.input_tokens = usage.input_total();
    outcome.output_tokens = usage.output;
    let details = ItemDetails {
        reason: trace.error.clone(),
        usage: Some(usage).filter(|usage| *usage != Usage::default()),
        tools: trace.tools.clone(),
        steps: Some(trace.requests().len() as u64).filter(|steps| *steps > 0),
        ..ItemDetails::default()
    };
    sink.add_outcome(run, &format!("trace {id}"), outcome, details)
}

/// Reads the machine from the attributes of a resource, by the semantic conventions.
fn read_machine(attributes: &wire::Attributes) -> Resources {
    let text = |key: &str| {
        attributes
            .text(&[key])
            .map(|text| clip_text(&text, 200).into_owned())
    };
    let system: Vec<String> = [text("os.type"), text("host.arch")]
        .into_iter()
        .flatten()
        .collect();
    Resources {
        system: Some(system.join(" ")).filter(|system| !system.is_empty()),
        cpu: text("host.cpu.model.name"),
        memory_limit: attributes.count(&["faas.max_memory"]),
        ..Resources::default()
    }
}

fn fill_run(
    run: super::sink::RunHandle,
    traces: &[(&String, &AgentTrace)],
    sink: &mut ImportSink<'_>,
) {
    let dated = |(_, trace): &(&String, &AgentTrace)| {
        let time = trace
            .times
            .and_then(|(start, _)| time_from_unix_seconds(start))
            .map(|time| time.to_rfc3339());
        trace
            .requests()
            .iter()
            .map(|request| ModelRequest {
                time: time.clone(),
                ..request.clone()
            })
            .collect::<Vec<_>>()
    };
    let requests: Vec<ModelRequest> = traces.iter().flat_map(dated).collect();
    let usage = requests
        .iter()
        .fold(Usage::default(), |sum, request| sum.plus(&request.usage));
    let usd = cost_of_requests(&requests, sink);
    let record = sink.run_mut(run);
    let times = || traces.iter().filter_map(|(_, trace)| trace.times);
    record.timestamp = times()
        .map(|(_, end)| end)
        .reduce(f64::max)
        .and_then(time_from_unix_seconds);
    record.duration_seconds =
        Some(times().map(|(start, end)| end - start).sum()).filter(|seconds: &f64| *seconds > 0.0);
    record.usage = Some(usage).filter(|usage| *usage != Usage::default());
    record.total_calls = Some(traces.len() as u64);
    record.turns = Some(requests.len() as u64).filter(|turns| *turns > 0);
    (record.cost_usd, record.cost_source) =
        (usd, usd.map_or(CostSource::Unknown, |_| CostSource::Priced));
    let providers: BTreeSet<&String> = traces
        .iter()
        .flat_map(|(_, trace)| &trace.providers)
        .collect();
    // Traces of several machines have no common resources.
    let machine = traces
        .first()
        .map(|(_, trace)| &trace.machine)
        .filter(|first| traces.iter().all(|(_, trace)| trace.machine == **first));
    let resources = Resources {
        provider: providers
            .first()
            .filter(|_| providers.len() == 1)
            .map(|provider| clip_text(provider, 200).into_owned()),
        ..machine.cloned().unwrap_or_default()
    };
    record.resources = Some(resources).filter(|resources| *resources != Resources::default());
    let versions: BTreeSet<&String> = traces
        .iter()
        .filter_map(|(_, trace)| trace.version.as_ref())
        .collect();
    if let [version] = versions.into_iter().collect::<Vec<_>>().as_slice() {
        record
            .tags
            .insert("service_version".to_owned(), (*version).clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn attribute(key: &str, value: &Value) -> Value {
        json!({"key": key, "value": value})
    }

    #[test]
    fn whole_numbers_are_texts_and_the_cache_is_within_the_input() {
        let attributes = [
            attribute("gen_ai.operation.name", &json!({"stringValue": "chat"})),
            attribute("gen_ai.usage.input_tokens", &json!({"intValue": "100"})),
            attribute(
                "gen_ai.usage.cache_read.input_tokens",
                &json!({"intValue": 60}),
            ),
            attribute("gen_ai.usage.output_tokens", &json!({"intValue": "5"})),
        ];
        let span: wire::OtlpSpan = serde_json::from_value(
            json!({"traceId": "t", "spanId": "s", "attributes": attributes}),
        )
        .expect("a span");
        let mut trace = AgentTrace::default();
        trace.add_span(&span, None);
        let usage = trace.sum_usage();
        assert_eq!(
            (
                usage.input,
                usage.cache_read,
                usage.output,
                usage.input_total()
            ),
            (Some(40), Some(60), Some(5), Some(100))
        );
    }

    #[test]
    fn an_evaluation_passes_by_its_label() {
        let of = |label: Option<&str>, score: Option<f64>, error: Option<&str>| {
            let [label, error] = [label, error].map(|text| text.map(str::to_owned));
            TraceEvaluation {
                score,
                label,
                error,
                ..TraceEvaluation::default()
            }
            .status()
        };
        assert_eq!(of(Some("Pass"), None, None), ItemStatus::Pass);
        assert_eq!(of(Some("fail"), Some(1.0), None), ItemStatus::Fail);
        assert_eq!(of(Some("relevant"), Some(1.0), None), ItemStatus::Skipped);
        assert_eq!(of(None, Some(0.5), None), ItemStatus::Skipped);
        assert_eq!(of(None, None, Some("timeout")), ItemStatus::NotEvaluated);
        assert_eq!(of(None, None, None), ItemStatus::NotEvaluated);
    }
}

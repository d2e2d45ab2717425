//! Output of `--verbose` and `--log`: the events of all layers, one per line.
//!
//! Layers report their work as `tracing` events and do not know who listens. Without either option nobody listens, and an event costs one
//! comparison. `--verbose` is for people; the log is for programs, with one JSON object per line. All text in a line is made visible here,
//! so that no file name can add a line or move the cursor.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use chrono::SecondsFormat;
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::domain::escape_invisible;

use super::clock;
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::Global;
use super::output;

/// How the first segment of our events' targets begins: the names of our crates. The crates of others have events of their own.
const OWN_CRATES: &str = env!("CARGO_CRATE_NAME");
/// Keys of every log object, before the fields of its event.
const RESERVED_KEYS: [&str; 4] = ["time", "level", "target", "message"];

/// Starts the output if either option asks for it.
pub(super) fn start_logging(global: &Global) -> Result<(), CommandFailure> {
    let log = LogOutput {
        start: Instant::now(),
        is_verbose: global.verbose && !global.quiet,
        is_quiet: global.quiet,
        file: global.log.as_deref().map(open_log).transpose()?,
        has_failed: AtomicBool::new(false),
    };
    if log.is_verbose || log.file.is_some() {
        // Fails only if this process already has a listener, which then gets the events.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(log));
    }
    Ok(())
}

fn open_log(path: &Path) -> Result<File, CommandFailure> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        // If it cannot be made, opening the file says why.
        let _ = std::fs::create_dir_all(folder);
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| {
            CommandFailure::new(format!(
                "cannot open the log {}: {error}",
                display_path(path)
            ))
            .with_hint("--log takes a file that can be written")
        })
}

/// Destinations of the lines.
struct LogOutput {
    start: Instant,
    is_verbose: bool,
    is_quiet: bool,
    file: Option<File>,
    /// Whether writing the file failed, which is reported once.
    has_failed: AtomicBool,
}

impl LogOutput {
    fn append_event(&self, mut file: &File, metadata: &Metadata<'_>, said: &LoggedEvent) {
        // Write each line at once: several commands may append to one file.
        let line = format!("{}\n", said.to_json(metadata));
        if let Err(error) = file.write_all(line.as_bytes())
            && !self.has_failed.swap(true, Ordering::Relaxed)
            && !self.is_quiet
        {
            output::write_stderr(&format!("note: the log could not be written: {error}"));
        }
    }
}

impl<S: Subscriber> Layer<S> for LogOutput {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if is_ours(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        is_ours(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut said = LoggedEvent::default();
        event.record(&mut said);
        if self.is_verbose {
            output::write_stderr(&format!(
                "{:8.3}s {}",
                self.start.elapsed().as_secs_f64(),
                said.to_text()
            ));
        }
        if let Some(file) = &self.file {
            self.append_event(file, event.metadata(), &said);
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    let name = metadata.target().split("::").next().unwrap_or_default();
    name.strip_prefix(OWN_CRATES)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// An event: its message, and its fields in order. All texts are safe to show.
#[derive(Default)]
struct LoggedEvent {
    message: String,
    fields: Vec<(&'static str, Value)>,
}

impl LoggedEvent {
    fn record_value(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = escape_invisible(&text),
            (name, Value::String(text)) => self
                .fields
                .push((name, Value::String(escape_invisible(&text)))),
            (name, value) => self.fields.push((name, value)),
        }
    }

    /// Formats the message, then ` key=value` for each field.
    fn to_text(&self) -> String {
        let mut words = self.message.clone();
        for (name, value) in &self.fields {
            let text = match value {
                Value::String(text) => quoted_if_needed(text),
                Value::Number(number) if number.is_f64() => {
                    format!("{:.3}", number.as_f64().unwrap_or_default())
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_) => value.to_string(),
            };
            words.push_str(&format!(" {name}={text}"));
        }
        words
    }

    /// Formats time, level, target and message, then the fields under their names. A field never replaces one of the four.
    fn to_json(&self, metadata: &Metadata<'_>) -> String {
        let level = metadata.level().as_str().to_ascii_lowercase();
        let time = clock::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let own = [
            json!(time),
            json!(level),
            json!(metadata.target()),
            json!(self.message),
        ];
        let own = RESERVED_KEYS.iter().map(|key| (*key).to_owned()).zip(own);
        let fields = self.fields.iter().map(|(name, value)| {
            let name = if RESERVED_KEYS.contains(name) {
                format!("field_{name}")
            } else {
                (*name).to_owned()
            };
            (name, value.clone())
        });
        // Built by hand, so that the keys keep this order for human readers.
        let pairs: Vec<String> = own
            .chain(fields)
            .map(|(key, value)| format!("{}:{value}", Value::String(key)))
            .collect();
        format!("{{{}}}", pairs.join(","))
    }
}

fn quoted_if_needed(text: &str) -> String {
    let is_plain = !text.is_empty()
        && !text.contains(|character: char| character.is_whitespace() || character == '"');
    if is_plain {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl Visit for LoggedEvent {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.record_value(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_value(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_value(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.record_value(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_value(field, json!(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_value(field, json!(format!("{value:?}")));
    }
}

//! What `--verbose` and `--log` write: the events of all layers, one a line.
//!
//! A layer says what it did as a `tracing` event and knows nothing of who listens. Without either option nobody does, and an event costs
//! one comparison. Everything in a line is made visible here, once, so that no name in a file can add a line or move the cursor.

use std::fmt::{Debug, Write as _};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use chrono::{SecondsFormat, Utc};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::domain::visible;

use super::arguments::Global;
use super::failure::Failure;
use super::output;
use super::settings::shown;

/// The first segment of our events' targets; the crates below us have events of their own.
const OURS: &str = env!("CARGO_CRATE_NAME");

/// Starts writing, if either option asks for it.
pub(super) fn start(global: &Global) -> Result<(), Failure> {
    let log = Log {
        start: Instant::now(),
        is_verbose: global.verbose && !global.quiet,
        is_quiet: global.quiet,
        file: global.log.as_deref().map(open).transpose()?,
        has_failed: AtomicBool::new(false),
    };
    if log.is_verbose || log.file.is_some() {
        // Fails only where this process has a listener already: then that one is told.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(log));
    }
    Ok(())
}

fn open(path: &Path) -> Result<File, Failure> {
    OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        Failure::new(format!("cannot open the log {}: {error}", shown(path)))
            .with_hint("--log takes a file that can be written, in a folder that exists")
    })
}

/// Where the lines go.
struct Log {
    start: Instant,
    is_verbose: bool,
    is_quiet: bool,
    file: Option<File>,
    /// The file could not be written, and that was said.
    has_failed: AtomicBool,
}

impl Log {
    fn write(&self, line: &str) {
        if self.is_verbose {
            output::trace(line);
        }
        let Some(mut file) = self.file.as_ref() else { return };
        // One write a line: several commands may append to one file.
        let stamped = format!("{} {line}\n", Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true));
        if let Err(error) = file.write_all(stamped.as_bytes())
            && !self.has_failed.swap(true, Ordering::Relaxed)
            && !self.is_quiet
        {
            output::trace(&format!("note: the log could not be written: {error}"));
        }
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if is_ours(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        is_ours(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut words = Words::default();
        event.record(&mut words);
        self.write(&format!("{:8.3}s {}{}", self.start.elapsed().as_secs_f64(), words.message, words.fields));
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().split("::").next() == Some(OURS)
}

/// An event as text: its message, then ` key=value` for each field.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Words {
    fn take(&mut self, field: &Field, value: &str) {
        let value = visible(value);
        if field.name() == "message" {
            self.message = value;
            return;
        }
        let is_plain = !value.is_empty() && !value.contains(|character: char| character.is_whitespace() || character == '"');
        let value = if is_plain { value } else { format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")) };
        self.fields.push_str(&format!(" {}={value}", field.name()));
    }
}

impl Visit for Words {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.take(field, &format!("{value:.3}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        // Memory takes every write; a value that cannot say what it is says what it could.
        let _ = write!(text, "{value:?}");
        self.take(field, &text);
    }
}

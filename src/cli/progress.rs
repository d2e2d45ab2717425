//! Phases of long work: a bar on stderr, only on a terminal, and their duration in the log.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tracing::{Level, enabled, info};

use crate::warehouse::Progress;

/// Work that takes less time gets no bar.
const BAR_DELAY: Duration = Duration::from_millis(300);

pub(super) struct ProgressReporter {
    interactive: bool,
    phase: Mutex<Option<WorkPhase>>,
}

/// The current work, and when it started.
struct WorkPhase {
    what: &'static str,
    total: u64,
    start: Instant,
    drawn: Option<ProgressBar>,
}

impl ProgressReporter {
    pub fn new(interactive: bool) -> Self {
        Self {
            interactive,
            phase: Mutex::new(None),
        }
    }

    /// Runs the work with a reporter for its progress.
    pub fn run_with_progress<T>(&self, work: impl FnOnce(&Progress) -> T) -> T {
        if !self.interactive && !enabled!(Level::INFO) {
            return work(&Progress::SILENT);
        }
        let begin = |what: &'static str, total: u64| self.begin_phase(what, total);
        let advance = |by: u64| self.advance(by);
        let end = || self.end_phase();
        work(&Progress {
            begin: &begin,
            advance: &advance,
            end: &end,
        })
    }

    fn begin_phase(&self, what: &'static str, total: u64) {
        let drawn = self.interactive.then(|| draw_bar(what, total));
        self.replace_phase(Some(WorkPhase {
            what,
            total,
            start: Instant::now(),
            drawn,
        }));
    }

    fn advance(&self, by: u64) {
        if let Ok(phase) = self.phase.lock()
            && let Some(WorkPhase {
                drawn: Some(bar), ..
            }) = phase.as_ref()
        {
            bar.inc(by);
        }
    }

    fn end_phase(&self) {
        if let Some(WorkPhase {
            what, total, start, ..
        }) = self.replace_phase(None)
        {
            info!(total, seconds = start.elapsed().as_secs_f64(), "{what}");
        }
    }

    /// Removes the previous phase from the screen and returns it.
    fn replace_phase(&self, new: Option<WorkPhase>) -> Option<WorkPhase> {
        let old = std::mem::replace(&mut *self.phase.lock().ok()?, new)?;
        if let Some(bar) = &old.drawn {
            bar.finish_and_clear();
        }
        Some(old)
    }
}

fn draw_bar(what: &'static str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:32} {percent}%")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::hidden().with_style(style).with_message(what);
    bar.set_length(total);
    bar.set_draw_target(indicatif::ProgressDrawTarget::stderr_with_hz(10));
    bar.enable_steady_tick(BAR_DELAY);
    bar
}

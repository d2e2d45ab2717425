//! A bar on stderr for long work, only on a terminal.

use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::warehouse::Progress;

/// Work that is over sooner needs no bar.
const DELAY: Duration = Duration::from_millis(300);

pub(super) struct Bar {
    interactive: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    pub fn new(interactive: bool) -> Self {
        Self { interactive, bar: Mutex::new(None) }
    }

    /// Hands the work something to report to.
    pub fn watch<T>(&self, work: impl FnOnce(&Progress) -> T) -> T {
        if !self.interactive {
            return work(&Progress::SILENT);
        }
        let begin = |what: &'static str, total: u64| self.begin(what, total);
        let advance = |by: u64| self.advance(by);
        let end = || self.end();
        work(&Progress { begin: &begin, advance: &advance, end: &end })
    }

    pub fn begin(&self, what: &'static str, total: u64) {
        let style = ProgressStyle::with_template("{msg} {bar:32} {percent}%").unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::hidden().with_style(style).with_message(what);
        bar.set_length(total);
        bar.set_draw_target(indicatif::ProgressDrawTarget::stderr_with_hz(10));
        bar.enable_steady_tick(DELAY);
        self.replace(Some(bar));
    }

    pub fn advance(&self, by: u64) {
        if let Ok(bar) = self.bar.lock()
            && let Some(bar) = bar.as_ref()
        {
            bar.inc(by);
        }
    }

    pub fn end(&self) {
        self.replace(None);
    }

    fn replace(&self, new: Option<ProgressBar>) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some(old) = std::mem::replace(&mut *bar, new)
        {
            old.finish_and_clear();
        }
    }
}

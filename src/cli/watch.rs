//! A plan being carried out, as a person or a log sees it: a line that changes on a terminal, one plain line per event in a pipe.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::info;

use crate::domain::{ItemStatus, RunStatus, visible};
use crate::render::format;
use crate::results::PlannedArm;
use crate::run::Event;

use super::output;

/// What has happened so far.
#[derive(Default)]
struct Seen {
    running: BTreeMap<String, String>,
    done: u64,
    failed: u64,
    cost: Option<f64>,
}

pub(super) struct Watch {
    seen: Mutex<Seen>,
    total: u64,
    arms: Vec<PlannedArm>,
    quiet: bool,
    bar: Option<ProgressBar>,
    start: Instant,
}

impl Watch {
    /// Watches `total` runs. Without a terminal every event is a line, unless it has to be quiet.
    pub fn new(arms: &[PlannedArm], total: usize, is_terminal: bool, quiet: bool) -> Self {
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let bar = is_terminal.then(|| {
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len} runs {msg} · {elapsed} · about {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10)).with_style(style);
            bar.enable_steady_tick(std::time::Duration::from_millis(500));
            bar
        });
        Self { seen: Mutex::new(Seen::default()), total, arms: arms.to_vec(), quiet, bar, start: Instant::now() }
    }

    pub fn event(&self, event: &Event<'_>) {
        let Ok(mut seen) = self.seen.lock() else { return };
        match event {
            Event::Started { arm, run } => {
                let name = format!("{} {}", label(arm), run.index);
                info!(run = %run.id, suite = arm.suite, approach = arm.approach, model = arm.model, index = run.index, "run started");
                self.line(&format!("start  {name}"));
                seen.running.insert(run.id.to_string(), name);
            }
            Event::Item { run, item, status, cost_usd } => {
                info!(run = %run.id, item, status = status.name(), "item");
                if let Some(cost) = cost_usd {
                    *seen.cost.get_or_insert(0.0) += cost;
                }
                if !matches!(status, ItemStatus::Pass | ItemStatus::Fail) {
                    self.line(&format!("  {} {}: {}", self.name(run.arm, run.index), visible(item), status.name()));
                }
            }
            Event::Step { run, what } => {
                info!(run = %run.id, what, "step");
                if let Some(name) = seen.running.get_mut(run.id.as_str()) {
                    *name = format!("{} ({what})", self.name(run.arm, run.index));
                }
            }
            Event::Finished { run, record } => {
                seen.running.remove(run.id.as_str());
                seen.done += 1;
                seen.failed += u64::from(record.status != RunStatus::Completed);
                // The items of a run of questions have told their cost already.
                if self.arms.get(run.arm).is_none_or(|arm| arm.agent.is_none() || arm.task.is_none())
                    && let Some(cost) = record.cost_usd
                {
                    *seen.cost.get_or_insert(0.0) += cost;
                }
                info!(run = %run.id, status = record.status.name(), error = record.error, "run finished");
                let counts = record.shared_tests_passed.zip(record.shared_tests_total);
                let counts = counts.map_or_else(|| "no outcome".to_owned(), |(passed, total)| format!("{passed}/{total} passed"));
                let mut line = format!("{:<6} {} {}: {counts}", record.status.name(), self.name(run.arm, run.index), run.id);
                if let Some(error) = &record.error {
                    line.push_str(&format!(" – {}", visible(error).chars().take(200).collect::<String>()));
                }
                self.line(&line);
                if let Some(bar) = &self.bar {
                    bar.inc(1);
                }
            }
            Event::Taken { run } => {
                seen.running.remove(run.id.as_str());
                self.line(&format!("left   {} {}: another process is at it", self.name(run.arm, run.index), run.id));
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_message(state(&seen));
        }
    }

    /// Takes the line off the screen.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let done = self.seen.lock().map_or(0, |seen| seen.done);
        info!(done, total = self.total, seconds = self.start.elapsed().as_secs_f64(), "runs");
    }

    fn name(&self, arm: usize, index: u32) -> String {
        self.arms.get(arm).map_or_else(String::new, |arm| format!("{} {index}", label(arm)))
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| ()),
            None if !self.quiet => output::trace(text),
            None => {}
        }
    }
}

/// `suite approach/model`.
fn label(arm: &PlannedArm) -> String {
    visible(&format!("{} {}/{}", arm.suite, arm.approach, arm.model))
}

fn state(seen: &Seen) -> String {
    let mut parts = Vec::new();
    if seen.failed > 0 {
        parts.push(format!("{} not completed", seen.failed));
    }
    if let Some(cost) = seen.cost {
        parts.push(format!("{} so far", format::money(cost)));
    }
    if let Some(running) = seen.running.values().next() {
        parts.push(if seen.running.len() > 1 { format!("{running} and {} more", seen.running.len() - 1) } else { running.clone() });
    }
    if parts.is_empty() { String::new() } else { format!("· {}", parts.join(" · ")) }
}

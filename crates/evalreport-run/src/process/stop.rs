//! The signal that stops all running programs at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::running::ProgramEvent;

/// Interval between looks for a stop in a pause.
const STOP_CHECK: Duration = Duration::from_millis(25);

/// Set once, by Ctrl-C or at the end of a batch. Clones are cheap and share their state.
///
/// Setting it takes a lock and wakes threads, so set it from an ordinary thread, not from a signal handler.
#[derive(Clone, Default)]
pub struct StopSignal(Arc<StopState>);

#[derive(Default)]
struct StopState {
    stopped: AtomicBool,
    urgent: AtomicBool,
    watchers: Mutex<StopWatchers>,
}

#[derive(Default)]
struct StopWatchers {
    next: u64,
    senders: BTreeMap<u64, Sender<ProgramEvent>>,
}

impl StopSignal {
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every program under this stop to end, and prevents new starts.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        self.wake_watchers();
    }

    /// Stops without grace: kills the programs. For the second Ctrl-C.
    pub fn stop_at_once(&self) {
        self.0.urgent.store(true, Ordering::SeqCst);
        self.stop();
    }

    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    /// Waits for `pause`, or until a stop. Returns whether the whole pause has passed.
    pub fn sleep(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while !self.is_stopped() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(STOP_CHECK));
        }
        false
    }

    pub(super) fn is_urgent(&self) -> bool {
        self.0.urgent.load(Ordering::SeqCst)
    }

    /// Reports a stop to the receiver while the watch lives. A stop that is already set is reported at once.
    pub(super) fn add_watcher(&self, sender: Sender<ProgramEvent>) -> StopSubscription {
        let id = {
            let mut watchers = self
                .0
                .watchers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            watchers.next += 1;
            let id = watchers.next;
            watchers.senders.insert(id, sender);
            id
        };
        if self.is_stopped() {
            self.wake_watchers();
        }
        StopSubscription {
            state: Arc::clone(&self.0),
            id,
        }
    }

    fn wake_watchers(&self) {
        for sender in self
            .0
            .watchers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .senders
            .values()
        {
            // A closed receiver has nothing left to stop.
            let _ = sender.send(ProgramEvent::Stop);
        }
    }
}

impl std::fmt::Debug for StopSignal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Stop")
            .field("stopped", &self.is_stopped())
            .finish()
    }
}

pub(super) struct StopSubscription {
    state: Arc<StopState>,
    id: u64,
}

impl Drop for StopSubscription {
    fn drop(&mut self) {
        self.state
            .watchers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .senders
            .remove(&self.id);
    }
}

//! The word that ends everything that runs: one for all, heard at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::running::Event;

/// Set once by Ctrl-C or by a batch that ends; cheap to clone, and all clones are one.
///
/// It takes a lock and wakes threads: to be set from an ordinary thread, not from within a signal handler.
#[derive(Clone, Default)]
pub struct Stop(Arc<State>);

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    urgent: AtomicBool,
    watchers: Mutex<Watchers>,
}

#[derive(Default)]
struct Watchers {
    next: u64,
    senders: BTreeMap<u64, Sender<Event>>,
}

impl Stop {
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every program that runs under this to end; none is started from now on.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Stops without grace: programs are killed. For the second Ctrl-C.
    pub fn at_once(&self) {
        self.0.urgent.store(true, Ordering::SeqCst);
        self.stop();
    }

    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    pub(super) fn is_urgent(&self) -> bool {
        self.0.urgent.load(Ordering::SeqCst)
    }

    /// Lets the receiver hear of a stop as long as the watch lives, also of one that has been said already.
    pub(super) fn watch(&self, sender: Sender<Event>) -> Watch {
        let id = {
            let mut watchers = self.0.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            watchers.next += 1;
            let id = watchers.next;
            watchers.senders.insert(id, sender);
            id
        };
        if self.is_stopped() {
            self.wake();
        }
        Watch { state: Arc::clone(&self.0), id }
    }

    fn wake(&self) {
        for sender in self.0.watchers.lock().unwrap_or_else(PoisonError::into_inner).senders.values() {
            // A receiver that is gone has nothing left to stop.
            let _ = sender.send(Event::Stop);
        }
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Stop").field("stopped", &self.is_stopped()).finish()
    }
}

pub(super) struct Watch {
    state: Arc<State>,
    id: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.state.watchers.lock().unwrap_or_else(PoisonError::into_inner).senders.remove(&self.id);
    }
}

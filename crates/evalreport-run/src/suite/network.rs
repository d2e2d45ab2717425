//! Which phases of a run may access the network.

use crate::document::{Fields, ValueForm, nearest_hint, quote_text};

/// A part of a run that starts programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    Approach,
    Setup,
    Server,
    Tests,
}

impl RunPhase {
    pub(super) const ALL: [Self; 4] = [Self::Approach, Self::Setup, Self::Server, Self::Tests];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Approach => "approach",
            Self::Setup => "setup",
            Self::Server => "server",
            Self::Tests => "tests",
        }
    }
}

/// Reads the list of phases with network access. An empty list allows none.
pub(super) fn read_network(fields: &mut Fields) -> Option<Vec<RunPhase>> {
    fields.note_form("network", || {
        ValueForm::list_of(ValueForm::Word(
            RunPhase::ALL.map(|phase| phase.name().to_owned()).into(),
        ))
    });
    fields.child("network")?;
    let names = fields.texts("network");
    let mut granted = Vec::new();
    for name in &names {
        match RunPhase::ALL.into_iter().find(|phase| phase.name() == name) {
            Some(phase) => granted.push(phase),
            None => {
                let known = RunPhase::ALL.map(RunPhase::name);
                let hint = nearest_hint(name, known)
                    .unwrap_or_else(|| format!("the parts of a run are {}", known.join(", ")));
                fields.reject(
                    "network",
                    format!("{} is no part of a run", quote_text(name)),
                    Some(hint),
                );
            }
        }
    }
    Some(granted)
}

//! Which phases of a run may access the network.

use crate::document::{Fields, Form, nearest_hint, quote};

/// A part of a run that starts programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Approach,
    Setup,
    Server,
    Tests,
}

impl Phase {
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
pub(super) fn read(fields: &mut Fields) -> Option<Vec<Phase>> {
    fields.note("network", || {
        Form::list(Form::Word(
            Phase::ALL.map(|phase| phase.name().to_owned()).into(),
        ))
    });
    fields.child("network")?;
    let names = fields.texts("network");
    let mut granted = Vec::new();
    for name in &names {
        match Phase::ALL.into_iter().find(|phase| phase.name() == name) {
            Some(phase) => granted.push(phase),
            None => {
                let known = Phase::ALL.map(Phase::name);
                let hint = nearest_hint(name, known)
                    .unwrap_or_else(|| format!("the parts of a run are {}", known.join(", ")));
                fields.reject(
                    "network",
                    format!("{} is no part of a run", quote(name)),
                    Some(hint),
                );
            }
        }
    }
    Some(granted)
}

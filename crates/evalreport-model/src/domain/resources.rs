//! The resources of a run: the machine, its limits, and the service.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Of a run of our own as far as the system and the service say it, of an import as far as its source does. What is absent is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Resources {
    /// The operating system and the processor's kind, such as `linux x86_64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The kernel's release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The processor's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Processors of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Processors that the programs of the run could use at once, after affinity and quotas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_limit: Option<u64>,
    /// Memory of the machine, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The most that the programs of the run could have of it, in bytes; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<u64>,
    /// Processes that wanted a processor, on average over the last minute before the run's record was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// How much was allowed to go on at once: questions of the run, or runs of code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// Seconds that the agent had: for a run of code, or for each question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// By tool that the suite's commands name: the first line that it says of its version. Of the tools on the runner's path; an environment that
    /// the run makes for itself may hold another.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    /// What the agent's program may do without asking, such as `every tool`; absent if its options are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<String>,
    /// The version of the agent's program, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Who served the model: as the configuration says, else the host of its API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Where the provider served it, as the API's address or its answers say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The sum of what the items' requests had to repeat, as far as agents tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
}

/// HTTP statuses with which a service reports too many requests or an overload.
const THROTTLED_STATUSES: [u64; 3] = [429, 503, 529];

/// Requests that had to be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Repeated {
    /// Tries after a first one.
    pub retries: u64,
    /// Refusals because of too many requests or an overload: HTTP 429, 503 and 529.
    pub throttled: u64,
    /// Seconds between the tries; absent where the agent does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_seconds: Option<f64>,
}

impl Repeated {
    /// Returns whether this HTTP status reports too many requests or an overload.
    pub fn is_throttled(status: u64) -> bool {
        THROTTLED_STATUSES.contains(&status)
    }

    /// Like [`Self::is_throttled`], for a message that names the status, such as `unexpected status 429 Too Many Requests`.
    pub fn reports_throttling(complaint: &str) -> bool {
        THROTTLED_STATUSES
            .iter()
            .any(|status| complaint.contains(&format!("status {status}")))
    }

    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            retries: self.retries.saturating_add(other.retries),
            throttled: self.throttled.saturating_add(other.throttled),
            waited_seconds: self
                .waited_seconds
                .zip(other.waited_seconds)
                .map(|(one, two)| one + two),
        }
    }
}

impl Resources {
    /// Returns the number of usable processors.
    pub fn usable_cpus(&self) -> Option<u64> {
        self.cpu_limit.or(self.cpus)
    }

    /// Returns the usable memory in bytes.
    pub fn usable_memory(&self) -> Option<u64> {
        [self.memory, self.memory_limit].into_iter().flatten().min()
    }

    /// Returns all texts with the names of their fields.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = (String, &mut String)> {
        let fixed = [
            ("resources.system", &mut self.system),
            ("resources.kernel", &mut self.kernel),
            ("resources.cpu", &mut self.cpu),
            ("resources.rights", &mut self.rights),
            ("resources.agent_version", &mut self.agent_version),
            ("resources.provider", &mut self.provider),
            ("resources.region", &mut self.region),
        ];
        let tools = self
            .tools
            .iter_mut()
            .map(|(tool, said)| (format!("resources.tools.{tool}"), said));
        fixed
            .into_iter()
            .filter_map(|(field, text)| Some((field.to_owned(), text.as_mut()?)))
            .chain(tools)
    }
}

//! The vocabulary of all layers, as plain data. No I/O, no clock, no randomness.

mod acceptance;
mod amount;
mod bundle_origin;
mod claimed_table;
mod details;
mod evaluator;
mod exclusion;
mod failed_start;
mod filter;
mod hex;
mod item;
mod item_counts;
mod item_kind;
mod latest_revision;
mod message_keys;
mod metric;
mod model_name;
mod names;
mod natural_order;
mod outage;
mod person;
mod plural;
mod price;
mod problem;
mod profile;
mod redaction;
mod resources;
mod run;
mod run_names;
mod run_setting;
mod sanitize;
mod secret_forms;
mod secrets;
mod status;
mod title_words;
mod unfinished;
mod unix_time;
mod untrusted_texts;
mod usage;
mod verification;

pub use acceptance::Acceptance;
pub use amount::{amount_problem, count_problem, figure_problem, is_amount, is_count, is_figure};
pub use bundle_origin::{Carried, Signer};
pub use claimed_table::{PublishedFigures, PublishedRow, PublishedTable};
pub use details::ItemDetails;
pub use evaluator::Evaluator;
pub use exclusion::Exclusion;
pub use failed_start::{MAX_FAILED_STARTS, MAX_REFUSALS, is_failed_start, reports_failed_start};
pub use filter::{Aliases, Filter};
pub use hex::to_hex;
pub use item::{ItemKey, ItemOutcome};
pub use item_counts::ItemCounts;
pub use item_kind::ItemKind;
pub use latest_revision::{
    latest_of_each, latest_outcome_revision, latest_revision, latest_score, replaces_revision,
};
pub use message_keys::MessageKeys;
pub use metric::{
    AmountMark, BUILT_IN, COST_PER_SOLVED, ChangeBound, Direction, Metric, MetricKind,
    MetricSettings, NoMargin, PASS_RATE, Unit, built_in_metric, metric_key, names_accuracy,
    parse_amount, rate_label, score_label,
};
pub use model_name::{NO_MODEL, is_model_name, is_same_model, may_mean, model_or_none};
pub use names::CONFIGURATION_NAMES;
pub use natural_order::{NamePart, natural_key};
pub use outage::{is_outage, is_outage_status, is_refusal, refused_status};
pub use person::{PERSON, can_judge_again, is_judge, is_person, person_evaluator};
pub use plural::{format_count, format_integer, group_digits};
pub use price::{ModelPrice, PriceTable, PriceTier, TokenPrices};
pub use problem::{Problem, Problems};
pub use profile::Profile;
pub use redaction::{MatchCounts, OwnPattern, Redacted, Redactor, Untrusted, is_known_secret};
pub use resources::{Repeated, Resources};
pub use run::{
    Git, ImportedContent, ItemsDigest, JoinedPart, JudgeProbe, Provenance, Run, RunId, ScoreRecord,
    StatedFigure,
};
pub use run_names::{GivenRunNames, NamesByRun};
pub use run_setting::{
    AGENT_SETTING_PREFIX, ArmSettings, MODEL_SETTING_PREFIX, is_setting_in_words,
    is_system_setting, is_unknown_setting, model_with_settings, setting_tag,
};
pub use sanitize::{
    escape_invisible, nearest_name, shell_word, shorten_to, split_shell_words, strip_terminal_codes,
};
pub use secrets::{Secrets, is_secret};
pub use status::{ItemStatus, RunStatus};
pub use title_words::split_title;
pub use unfinished::{UnfinishedRun, UnfinishedState};
pub use unix_time::{date_of, to_nanoseconds};
pub use untrusted_texts::for_each_string_mut;
pub use usage::{CostSource, Usage};
pub use verification::{
    Verification, VerifiedBaseline, VerifiedCheck, VerifiedFailure, VerifiedPart,
};

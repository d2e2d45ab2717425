//! What a page or table says, as plain typed structs: asks the warehouse, calls stats; no HTML, no text formatting.
//!
//! Every figure travels with its n, its interval where n allows one, and what was left out. The terminal, JSON, Markdown, CSV and the
//! site all print these structs.

mod agreement;
mod apart;
mod arm;
mod baseline;
mod chart;
mod comparability;
mod compare;
mod conditions;
mod detail;
mod estimate;
mod evidence;
mod exclusions;
mod exported;
mod figures;
mod gate;
mod history;
mod imported;
mod item_scores;
mod items;
mod judged;
mod leaderboard;
mod meeting;
mod news;
mod price;
mod reliability;
mod repeats;
mod run;
mod runnable;
mod sample;
mod side;
mod site;
mod standing;
mod stories;
mod texts;
mod transcript;

pub use agreement::{
    AgreementReport, Alpha, CriterionFlip, Disagreement, JudgeReport, JudgedRun, PairAgreement, ProbeReport, ProbedRun, Rated, Rater,
    RaterLine, SkippedRun, agreement, decided_otherwise, probe_report,
};
pub use apart::{Apart, apart};
pub use arm::{Arm, ArmRuns, Grouping, SuiteGroup, suite_groups};
pub use baseline::{Baseline, Held, held_groups};
pub use chart::{ArmSpread, Disagreements, Discordance, Distribution, Pareto, ParetoPoint, Step, SuiteCharts, Threshold};
pub use comparability::{ChangedItem, Comparability, Grade, Mismatch, MismatchKind, SharedItems, UnlikePairs, grade};
pub use compare::{
    Cell, ComparedArm, Comparison, ComparisonRow, Delta, DeltaUnit, FlippedItems, Flips, ListedItem, ListedItems, MOST_LISTED, Winner,
    compare, compare_with_flips,
};
pub use detail::{Bill, Check, CrossCheck, Detail, Doubled, Effect};
pub use estimate::{ClusterSpread, Estimate, Method};
pub use evidence::{
    Design, Difference, Evidence, MIN_ITEMS, MIN_RUNS, Needed, PairEvidence, Policy, Reason, Record, Resolution, Scale, Sizes, Test,
};
pub use exclusions::ExcludedItem;
pub use exported::{OutcomeGroup, RunTally, Share, Tally};
pub use figures::{Coverage, Figure, Money, Spread};
pub use gate::{AbsentArm, Ask, Basis, GateCheck, GateReport, GateRule, gate};
pub use history::{
    ArmHistory, Break, FLAKY_MARGIN, FLAKY_PROBABILITY, History, LevelChange, Night, NightlyDuel, NoisyItem, Precision, Series, history,
};
pub use imported::{
    CheckedFigure, ForeignSource, HeldField, ImportAnswer, ImportedSource, Quirk, RefusedRows, StatedOtherwise, UnrecognisedFile,
};
pub use items::{Discrimination, Go, ItemCell, ItemLine, ItemMatrix, ItemOrders, ItemSign, MatrixArm};
pub use judged::{
    CriteriaCount, CriteriaTable, CriteriaTally, CriterionCell, CriterionFlips, CriterionKey, CriterionRow, CriterionVerdict,
    EvaluatorScore, JudgeView, StoredVerification, VerificationCheck, VerificationFailure, criterion_flips, newest_scores,
};
pub use leaderboard::{
    Board, Entry, OtherVersion, Overall, OverallEntry, Pooling, ScoreColumn, SortKey, SuiteBoard, leaderboard, overall, retracted,
};
pub use news::{Event, News, news};
pub use price::{PriceInterval, PriceMethod};
pub use reliability::Reliability;
pub use run::{
    DetailsByItem, ItemChoice, ItemPage, ItemRow, RunLine, RunPage, RunStated, ScoreLineView, ShownRun, StatedLine, SuiteLine, criteria_of,
    items_of, run_line, run_page, shown_run, suite_lines,
};
pub use runnable::{ProblemLine, Runnable, RunnableAgent, RunnableApproach, RunnableSuite, RunnableTask, SuiteKind};
pub use side::{MOST_SIDES, Side, SideBySide, Sides};
pub use site::{Overview, OverviewSuite, SiteContext, SiteOptions, comparison_pairs, overview};
pub use standing::{BoardEvidence, Chances, Drawn, Front, Standing};
pub use stories::{ItemNote, ItemStories, ItemStory};
pub use transcript::{ItemTranscript, RunTranscripts, TranscriptPart, transcript_parts, without_middle};

pub use crate::stats::{Interval, RankRange, Ruling, Summary, Verdict};

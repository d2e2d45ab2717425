//! The evaluators that a suite wants, and their results for a finished workspace.
//!
//! The evaluators and their settings are fixed before anything runs, so that an error in a file costs no run. Evaluators are independent:
//! if one fails, or even panics, its score is missing and the others continue.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::Value;

use crate::agent::Agent;
use crate::config::ProjectConfig;
use crate::document::SwitchSetting;
use crate::domain::{
    Direction, Evaluator, ItemDetails, ItemOutcome, Problem, RunId, ScoreRecord, Unit, Usage,
    escape_invisible,
};
use crate::evaluate::{
    CodeQualitySettings, CommandRunner, ComplexitySettings, CriteriaOrder, EfficiencySettings,
    EvaluatorResult, FulfilmentSettings, FunctionalSettings, JudgeAgent, JudgeRecord,
    SettingsLayer, ToolUseSettings, Workpiece, evaluate_code_quality, evaluate_complexity,
    evaluate_efficiency, evaluate_fulfilment, evaluate_functional, evaluate_tool_use,
};
use crate::process::StopSignal;
use crate::results::{JudgeLine, ScoreLine};
use crate::suite::Suite;

const NO_JUDGE: &str = "no judge is configured";
const NO_CRITERIA: &str = "the suite has no acceptance criteria";

/// The evaluations of every run of a suite.
#[derive(Clone, Debug, Default)]
pub struct SuiteEvaluation {
    /// In the order of [`Evaluator::ALL`].
    wanted: Vec<WantedEvaluator>,
    pub jury: Option<JudgeSettings>,
}

/// An evaluator with its settings.
#[derive(Clone, Debug, PartialEq)]
enum WantedEvaluator {
    Fulfilment(FulfilmentSettings),
    Efficiency(EfficiencySettings),
    ToolUse(ToolUseSettings),
    Functional(FunctionalSettings),
    CodeQuality(CodeQualitySettings),
    Complexity(ComplexitySettings),
}

/// The judge and its settings.
#[derive(Clone, Debug)]
pub struct JudgeSettings {
    pub agent: Agent,
    pub votes: u64,
    pub is_strict: bool,
    /// Time limit per question to the judge.
    pub timeout: Option<Duration>,
}

impl JudgeSettings {
    fn to_judge(&self) -> JudgeAgent<'_> {
        JudgeAgent {
            agent: &self.agent,
            votes: self.votes,
            is_strict: self.is_strict,
            timeout: self.timeout,
        }
    }
}

impl SuiteEvaluation {
    /// Selects the evaluators. The suite's settings override the configuration's, key by key. Acceptance criteria are judged by default.
    ///
    /// The caller adds the jury; [`SuiteEvaluation::is_judged`] tells whether one is needed.
    pub fn select_evaluators(config: &ProjectConfig, suite: &Suite) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut wanted = Vec::new();
        for evaluator in Evaluator::ALL {
            let (default, own) = (
                config.evaluators.get(&evaluator),
                suite.evaluators.get(&evaluator),
            );
            let by_itself = evaluator == Evaluator::RequirementFulfillment
                && !suite.acceptance_criteria.is_empty();
            if !own.or(default).map_or(by_itself, SwitchSetting::is_wanted) {
                continue;
            }
            let layers = [
                settings_layer(evaluator, &config.file, default),
                settings_layer(evaluator, &suite.file, own),
            ];
            let layers: Vec<SettingsLayer<'_>> = layers.into_iter().flatten().collect();
            wanted.push(WantedEvaluator::from_layers(
                evaluator,
                &layers,
                &mut problems,
            ));
        }
        if problems.is_empty() {
            Ok(Self { wanted, jury: None })
        } else {
            Err(problems)
        }
    }

    /// Returns the problems in the configuration's own settings, even of evaluators that no suite wants.
    pub fn settings_problems(config: &ProjectConfig) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (evaluator, setting) in &config.evaluators {
            let layer = settings_layer(*evaluator, &config.file, Some(setting));
            WantedEvaluator::from_layers(*evaluator, layer.as_slice(), &mut problems);
        }
        problems
    }

    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Returns whether the suite needs a judge.
    pub fn is_judged(&self) -> bool {
        self.wanted
            .iter()
            .any(|wanted| wanted.evaluator().is_judged())
    }

    /// Keeps only judged evaluators. Their decisions can be repeated later.
    #[must_use]
    pub fn only_judged(mut self) -> Self {
        self.wanted.retain(|wanted| wanted.evaluator().is_judged());
        self
    }

    /// Keeps only evaluators that work from questions and answers alone, without tool calls.
    #[must_use]
    pub fn answers_only(mut self) -> Self {
        self.wanted
            .retain(|wanted| wanted.evaluator() == Evaluator::RequirementFulfillment);
        self
    }

    /// Returns the evaluators in order.
    pub fn evaluators(&self) -> impl Iterator<Item = Evaluator> {
        self.wanted.iter().map(WantedEvaluator::evaluator)
    }

    /// Runs the evaluators one by one. `next` receives the name of each before it runs, `each` its result. Returns `None` if the user
    /// stopped it.
    pub fn run_evaluators<E>(
        &self,
        piece: &Workpiece<'_>,
        runner: &CommandRunner<'_>,
        stop: &StopSignal,
        mut next: impl FnMut(&str),
        mut each: impl FnMut(EvaluatorResult) -> Result<(), E>,
    ) -> Result<Option<()>, E> {
        for wanted in &self.wanted {
            if stop.is_stopped() {
                return Ok(None);
            }
            next(wanted.evaluator().name());
            let said = catch_panic(wanted.evaluator(), || {
                wanted.evaluate_piece(
                    piece,
                    self.jury.as_ref(),
                    CriteriaOrder::Given,
                    runner,
                    stop,
                )
            });
            match said {
                Some(evaluated) => each(evaluated)?,
                None => return Ok(None),
            }
        }
        Ok(Some(()))
    }

    /// Asks the judge again about one piece, with the criteria in the given order. Returns `None` if the user stopped it.
    pub fn judge_again(
        &self,
        evaluator: Evaluator,
        piece: &Workpiece<'_>,
        order: CriteriaOrder,
        stop: &StopSignal,
    ) -> Option<EvaluatorResult> {
        let wanted = self
            .wanted
            .iter()
            .find(|wanted| wanted.evaluator() == evaluator);
        let Some(wanted) = wanted else {
            return Some(EvaluatorResult::without_score(evaluator, "not wanted"));
        };
        catch_panic(evaluator, || {
            wanted.evaluate_piece(piece, self.jury.as_ref(), order, &|_, _| None, stop)
        })
    }
}

/// Returns a file's settings for an evaluator, if it has any beyond on or off.
fn settings_layer<'a>(
    evaluator: Evaluator,
    file: &'a str,
    setting: Option<&'a SwitchSetting>,
) -> Option<SettingsLayer<'a>> {
    let node = setting.and_then(SwitchSetting::settings_node)?;
    Some(SettingsLayer {
        file,
        path: format!("evaluators.{}", evaluator.name()),
        node,
    })
}

impl WantedEvaluator {
    fn from_layers(
        evaluator: Evaluator,
        layers: &[SettingsLayer<'_>],
        problems: &mut Vec<Problem>,
    ) -> Self {
        match evaluator {
            Evaluator::RequirementFulfillment => {
                Self::Fulfilment(FulfilmentSettings::from_layers(layers, problems))
            }
            Evaluator::Efficiency => {
                Self::Efficiency(EfficiencySettings::from_layers(layers, problems))
            }
            Evaluator::ToolUse => Self::ToolUse(ToolUseSettings::from_layers(layers, problems)),
            Evaluator::Functional => {
                Self::Functional(FunctionalSettings::from_layers(layers, problems))
            }
            Evaluator::CodeQuality => {
                Self::CodeQuality(CodeQualitySettings::from_layers(layers, problems))
            }
            Evaluator::Complexity => {
                Self::Complexity(ComplexitySettings::from_layers(layers, problems))
            }
        }
    }

    fn evaluator(&self) -> Evaluator {
        match self {
            Self::Fulfilment(_) => Evaluator::RequirementFulfillment,
            Self::Efficiency(_) => Evaluator::Efficiency,
            Self::ToolUse(_) => Evaluator::ToolUse,
            Self::Functional(_) => Evaluator::Functional,
            Self::CodeQuality(_) => Evaluator::CodeQuality,
            Self::Complexity(_) => Evaluator::Complexity,
        }
    }

    fn evaluate_piece(
        &self,
        piece: &Workpiece<'_>,
        jury: Option<&JudgeSettings>,
        order: CriteriaOrder,
        runner: &CommandRunner<'_>,
        stop: &StopSignal,
    ) -> Option<EvaluatorResult> {
        let missing = |reason: &str| Some(EvaluatorResult::without_score(self.evaluator(), reason));
        match (self, jury) {
            (Self::Fulfilment(_), _) if piece.suite.acceptance_criteria.is_empty() => {
                missing(NO_CRITERIA)
            }
            (Self::Fulfilment(_) | Self::ToolUse(_), None) => missing(NO_JUDGE),
            (Self::Fulfilment(settings), Some(jury)) => {
                evaluate_fulfilment(piece, &jury.to_judge(), settings, order, stop)
            }
            (Self::ToolUse(settings), Some(jury)) => {
                evaluate_tool_use(piece, &jury.to_judge(), settings, stop)
            }
            (Self::Efficiency(settings), _) => Some(evaluate_efficiency(piece, settings)),
            (Self::Functional(settings), _) => evaluate_functional(runner, piece, settings),
            (Self::CodeQuality(settings), _) => evaluate_code_quality(runner, piece, settings),
            (Self::Complexity(settings), _) => Some(evaluate_complexity(piece, settings)),
        }
    }
}

/// Catches a panicking evaluator, so that neither the run nor other results are lost.
fn catch_panic(
    evaluator: Evaluator,
    ask: impl FnOnce() -> Option<EvaluatorResult>,
) -> Option<EvaluatorResult> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|panic| {
        Some(EvaluatorResult::without_score(
            evaluator,
            format!(
                "the evaluator broke: {}",
                escape_invisible(&panic_message(panic.as_ref()))
            ),
        ))
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no word why".to_owned())
}

/// Returns the stored form of an evaluator's result: outcomes of single criteria or checks, and the score.
pub fn to_records(
    run: &RunId,
    evaluated: EvaluatorResult,
    revision: u32,
) -> (Vec<(ItemOutcome, ItemDetails)>, ScoreLine) {
    let name = evaluated.evaluator.name();
    let items: Vec<(ItemOutcome, ItemDetails)> = evaluated
        .items
        .into_iter()
        .map(|item| {
            let outcome = ItemOutcome {
                run: run.clone(),
                kind: item.kind,
                item: item.item,
                cluster: None,
                category: None,
                attempt: 1,
                status: item.status,
                score: None,
                evaluator: name.to_owned(),
                revision,
                duration_seconds: None,
                cost_usd: None,
                input_tokens: None,
                output_tokens: None,
            };
            (outcome, item.details)
        })
        .collect();
    let raw = evaluated
        .judged
        .as_ref()
        .map(|judged| judged.raw.clone())
        .unwrap_or_default();
    let judge = evaluated.judged.map(to_judge_line);
    let (value, not_evaluated) = match evaluated.score {
        Ok(score) => (Some(score), None),
        Err(reason) => (None, Some(reason)),
    };
    let decided_by = match &judge {
        // Without a decision, the judge must not count as a different one.
        _ if value.is_none() => None,
        Some(judge) => Some(judge.name()),
        None => Some(name.to_owned()),
    };
    let score = ScoreRecord {
        metric: name.to_owned(),
        value,
        unit: Unit::Points,
        direction: Direction::Up,
        range: None,
        standard_error: None,
        n: Some(items.len() as u64).filter(|n| *n > 0),
        evaluator: decided_by,
        revision,
    };
    let details = Some(evaluated.details).filter(|details| *details != Value::Null);
    (
        items,
        ScoreLine {
            score,
            details,
            reasoning: evaluated.reasoning,
            not_evaluated,
            judge,
            raw,
        },
    )
}

fn to_judge_line(judged: JudgeRecord) -> JudgeLine {
    JudgeLine {
        agent: judged.agent,
        model: judged.model,
        prompt_sha256: judged.prompt_sha256,
        votes: judged.votes,
        agreement: judged.agreement,
        usage: Some(judged.usage).filter(|usage| *usage != Usage::default()),
        cost_usd: judged.cost.usd,
        cost_source: judged.cost.usd.map(|_| judged.cost.source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ItemKind, ItemStatus};
    use crate::evaluate::EvaluatorItem;

    fn config(text: &str) -> ProjectConfig {
        crate::config::parse("evalreport.yaml", &format!("version: 1\n{text}"))
            .expect("a configuration")
    }

    fn suite(text: &str) -> (tempfile::TempDir, Suite) {
        let root = tempfile::tempdir().expect("a temporary folder");
        let folder = root.path().join("suites/s");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("order.md"), "Make it.").expect("writable");
        let text =
            format!("name: s\nrequirements: order.md\nacceptance_criteria: [it works]\n{text}");
        std::fs::write(folder.join("suite.yaml"), text).expect("writable");
        let suite = crate::suite::load_suite(root.path(), &folder).expect("a suite");
        (root, suite)
    }

    fn planned(config_text: &str, suite_text: &str) -> Vec<Evaluator> {
        let (_root, suite) = suite(suite_text);
        SuiteEvaluation::select_evaluators(&config(config_text), &suite)
            .expect("no problem")
            .evaluators()
            .collect()
    }

    #[test]
    fn the_suite_has_the_last_word_on_what_is_wanted() {
        use Evaluator::{Complexity, Efficiency, RequirementFulfillment};
        assert_eq!(
            planned("", ""),
            [RequirementFulfillment],
            "criteria are there to be judged"
        );
        assert_eq!(
            planned("", "evaluators: {requirementFulfillment: false}\n"),
            []
        );
        assert_eq!(
            planned("evaluators: {requirementFulfillment: false}\n", ""),
            []
        );
        assert_eq!(
            planned(
                "evaluators: {efficiency: true, complexity: true}\n",
                "evaluators: {efficiency: false, requirementFulfillment: false}\n"
            ),
            [Complexity]
        );
        assert_eq!(
            planned(
                "evaluators: {efficiency: false}\n",
                "metrics: {efficiency: true}\n"
            ),
            [RequirementFulfillment, Efficiency]
        );
    }

    #[test]
    fn a_slip_in_the_settings_of_either_file_is_found_before_anything_runs() {
        let (_root, suite) = suite("evaluators: {efficiency: {no_such_key: 1}}\n");
        let problems = SuiteEvaluation::select_evaluators(
            &config("evaluators: {efficiency: {nor_this: 1}}\n"),
            &suite,
        )
        .expect_err("two slips");
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].starts_with("evalreport.yaml:2:") && said[1].contains("suite.yaml:4:"),
            "{said:?}"
        );
    }

    #[test]
    fn an_evaluator_that_breaks_has_no_score() {
        let broken = catch_panic(Evaluator::Complexity, || panic!("at {}", "the disco\u{1b}"));
        assert_eq!(
            broken.expect("not stopped").score,
            Err("the evaluator broke: at the disco␛".to_owned())
        );
        assert_eq!(catch_panic(Evaluator::Complexity, || None), None);
    }

    #[test]
    fn what_is_stored_says_who_decided() {
        let run = RunId::parse("r1").expect("an id");
        let judged = JudgeRecord {
            agent: "j".to_owned(),
            model: Some("m".to_owned()),
            prompt_sha256: "0123456789ab".to_owned(),
            ..JudgeRecord::default()
        };
        let item = EvaluatorItem {
            kind: ItemKind::Criterion,
            item: "it works".to_owned(),
            status: ItemStatus::Pass,
            details: ItemDetails::default(),
        };
        let evaluated = EvaluatorResult {
            score: Ok(100.0),
            items: vec![item],
            judged: Some(judged),
            ..EvaluatorResult::without_score(Evaluator::RequirementFulfillment, "")
        };
        let (items, line) = to_records(&run, evaluated, 3);
        assert_eq!(
            (items[0].0.evaluator.as_str(), items[0].0.revision),
            ("requirementFulfillment", 3)
        );
        assert_eq!(line.score.evaluator.as_deref(), Some("j:m #01234567"));
        assert_eq!(
            (line.score.value, line.score.n, line.score.revision),
            (Some(100.0), Some(1), 3)
        );

        let (_, line) = to_records(
            &run,
            EvaluatorResult::without_score(Evaluator::ToolUse, "away"),
            0,
        );
        assert_eq!(
            (
                line.score.value,
                line.score.evaluator,
                line.not_evaluated.as_deref()
            ),
            (None, None, Some("away"))
        );
        let (_, line) = to_records(
            &run,
            EvaluatorResult::without_score(Evaluator::Complexity, "no code"),
            0,
        );
        assert_eq!(line.score.evaluator, None);
        let scored = EvaluatorResult {
            score: Ok(1.0),
            ..EvaluatorResult::without_score(Evaluator::Complexity, "")
        };
        assert_eq!(
            to_records(&run, scored, 0).1.score.evaluator.as_deref(),
            Some("complexity")
        );
    }
}

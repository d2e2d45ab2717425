//! The verdict of all questions of two arms, foreseen from some.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Run;
use crate::inference::Arm;
use crate::stats::Foreseen;

/// What two runs of chosen questions say about all questions of their suite.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForeseenVerdict {
    pub suite: String,
    pub verdict: Foreseen,
    /// Level of the test of all questions, whose verdict this is.
    pub alpha: f64,
    /// Questions asked of each arm.
    pub asked: u64,
    /// Questions that could be asked.
    pub questions: u64,
    /// The two arms, in the order of the plan.
    pub arms: Vec<ForeseenArm>,
    /// What the questions not asked would have cost at the same price. Absent if a cost is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_usd: Option<f64>,
}

/// One of the two arms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForeseenArm {
    #[serde(flatten)]
    pub arm: Arm,
    pub run: String,
    /// Questions that this arm passed and the other did not.
    pub passed_alone: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl ForeseenVerdict {
    /// Describes the verdict of two runs, of which `alone` questions only the first passed, and only the second.
    pub fn of(runs: [&Run; 2], verdict: Foreseen, alpha: f64, (asked, questions): (u64, u64), alone: [u64; 2]) -> Self {
        let arm = |run: &Run, passed_alone: u64| ForeseenArm {
            arm: Arm { approach: run.approach.clone(), model: run.model.clone() },
            run: run.id.to_string(),
            passed_alone,
            cost_usd: run.cost_usd,
        };
        let spent = runs[0].cost_usd.zip(runs[1].cost_usd).map(|(first, second)| first + second);
        let left = questions.saturating_sub(asked) as f64;
        Self {
            suite: runs[0].suite.clone(),
            verdict,
            alpha,
            asked,
            questions,
            arms: vec![arm(runs[0], alone[0]), arm(runs[1], alone[1])],
            saved_usd: spent.filter(|_| asked > 0).map(|spent| spent / asked as f64 * left),
        }
    }

    /// Returns the two arms, the one ahead first.
    pub fn ahead_first(&self) -> [&ForeseenArm; 2] {
        let [first, second] = [&self.arms[0], &self.arms[1]];
        if second.passed_alone > first.passed_alone { [second, first] } else { [first, second] }
    }
}

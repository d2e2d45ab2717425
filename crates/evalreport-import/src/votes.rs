//! A table of votes: one row for each comparison of two arms, with who won.

use std::collections::BTreeMap;
use std::path::Path;

use crate::document::quote_text;
use crate::domain::Problem;
use crate::stats::{PairVote, VoteOutcome};

use super::cell::{CellKind, RowCell};
use super::columns::SourceColumns;
use super::encoding::TextEncoding;
use super::first_problems::FirstProblems;
use super::layout::RowLayout;
use super::rows::{ReadStop, RowSink, SourceRow};
use super::source::SourceFile;

/// Votes as a file holds them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedVotes {
    /// SHA-256 of the file's bytes, in hex.
    pub sha256: String,
    /// In order of appearance.
    pub arms: Vec<String>,
    pub votes: Vec<PairVote>,
    /// By vote: the code of the voter and of the prompt. A vote without one has a code of its own. Absent if no vote has one.
    pub voters: Option<Vec<u32>>,
    pub prompts: Option<Vec<u32>>,
    /// By style column: its name, and by vote the values of the two answers.
    pub styles: Vec<(String, Vec<[f64; 2]>)>,
    /// Rows without a vote, and rows that compare an arm with itself. They are left out.
    pub unvoted: u64,
    pub on_itself: u64,
}

/// The meaning of a column of votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VoteColumn {
    First,
    Second,
    Winner,
    Voter,
    Prompt,
}

impl VoteColumn {
    pub const ALL: [Self; 5] = [
        Self::First,
        Self::Second,
        Self::Winner,
        Self::Voter,
        Self::Prompt,
    ];

    /// Returns the names by which the column is known. Of several, the first counts.
    fn known_names(self) -> &'static [&'static str] {
        match self {
            Self::First => &[
                "model_a", "arm_a", "system_a", "left", "first", "model_1", "a",
            ],
            Self::Second => &[
                "model_b", "arm_b", "system_b", "right", "second", "model_2", "b",
            ],
            Self::Winner => &["winner", "vote", "voted", "preference", "verdict", "label"],
            Self::Voter => &[
                "voter",
                "judge",
                "worker",
                "annotator",
                "rater",
                "user",
                "user_id",
                "judge_id",
                "evaluation_session_id",
            ],
            Self::Prompt => &[
                "prompt_id",
                "question_id",
                "prompt",
                "question",
                "item",
                "instruction",
            ],
        }
    }

    /// Returns the word for the column in arguments.
    pub fn argument_name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
            Self::Winner => "winner",
            Self::Voter => "voter",
            Self::Prompt => "prompt",
        }
    }
}

/// How to read a table of votes.
#[derive(Clone, Debug, Default)]
pub struct VoteLayout {
    /// Columns with other names than the usual ones.
    pub columns: BTreeMap<VoteColumn, String>,
    /// Style columns: a name whose `*` stands for each of the two arms. Without a star, `_*` is added.
    pub styles: Vec<String>,
}

/// What a style's star stands for.
const STYLE_SUFFIXES: [[&str; 2]; 5] = [
    ["a", "b"],
    ["left", "right"],
    ["first", "second"],
    ["1", "2"],
    ["x", "y"],
];
const FIRST_WINS_WORDS: [&str; 8] = [
    "model_a", "arm_a", "system_a", "left", "first", "a", "model_1", "1",
];
const SECOND_WINS_WORDS: [&str; 8] = [
    "model_b", "arm_b", "system_b", "right", "second", "b", "model_2", "2",
];
const TIE_WORDS: [&str; 9] = [
    "tie",
    "tie (bothbad)",
    "bothbad",
    "both_bad",
    "both bad",
    "both",
    "draw",
    "equal",
    "neither",
];
/// Reads a table of votes, in any format of tables, compressed or not. Fails with all problems of the file at once.
pub fn read_votes(path: &Path, layout: &VoteLayout) -> Result<ImportedVotes, Vec<Problem>> {
    let source = SourceFile::from_path(path).map_err(|problem| vec![problem])?;
    let wanted = VoteColumnPlaces::from_layout(layout);
    let mut table = VoteTable::default();
    table.found.styles = layout
        .styles
        .iter()
        .map(|style| (style.clone(), Vec::new()))
        .collect();
    let mut problems = FirstProblems::default();
    let read = source.for_each_part(TextEncoding::default(), &mut |_| {}, |part| {
        let label = part.label.clone();
        let mut columns = SourceColumns::new(wanted.names.clone());
        let mut on_row = |row: &SourceRow<'_>| {
            let taken = match &row.cells {
                Ok(cells) => table.add_row(cells, &wanted),
                Err(refused) => Err(refused.reason.clone()),
            };
            if let Err(message) = taken {
                problems.add(&label, row, message);
            }
            Ok(())
        };
        let mut rows = RowSink::new(&label, &mut columns, &mut on_row);
        RowLayout::default().read_rows(part.format, part.input, &mut rows, |_| None)?;
        let lacking: Vec<String> = columns.missing_columns().map(str::to_owned).collect();
        let absent = wanted.describe_absent(&lacking);
        if !absent.is_empty() {
            return Err(ReadStop::Unreadable(
                absent
                    .into_iter()
                    .map(|message| Problem::in_file(&label, message))
                    .collect(),
            ));
        }
        Ok(())
    });
    let mut problems = problems.into_problems(read, &source.shown);
    if problems.is_empty() && table.found.votes.is_empty() {
        problems.push(Problem::in_file(&source.shown, "has no vote on two arms"));
    }
    match problems.last_mut() {
        None => Ok(table.into_votes(source.sha256)),
        Some(last) => {
            let hint = "a table of votes has the columns model_a, model_b and winner (model_a, model_b or tie); --column winner=NAME names \
                        another";
            last.hint.get_or_insert_with(|| hint.to_owned());
            Err(problems)
        }
    }
}

/// The columns to look for, and which cells they are.
struct VoteColumnPlaces {
    names: Vec<String>,
    /// By meaning: places in the row, of which the first with a text counts.
    places: BTreeMap<VoteColumn, Vec<usize>>,
    /// By style: pairs of places.
    styles: Vec<Vec<[usize; 2]>>,
}

impl VoteColumnPlaces {
    fn from_layout(layout: &VoteLayout) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut place = |name: &str| {
            names
                .iter()
                .position(|known| known == name)
                .unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                })
        };
        let mut places = BTreeMap::new();
        for column in VoteColumn::ALL {
            let found = match layout.columns.get(&column) {
                Some(name) => vec![place(name)],
                None => column
                    .known_names()
                    .iter()
                    .map(|name| place(name))
                    .collect(),
            };
            places.insert(column, found);
        }
        let mut style = |name: &String| {
            let pattern = if name.contains('*') {
                name.clone()
            } else {
                format!("{name}_*")
            };
            STYLE_SUFFIXES
                .iter()
                .map(|ends| ends.map(|end| place(&pattern.replacen('*', end, 1))))
                .collect()
        };
        let styles = layout.styles.iter().map(&mut style).collect();
        Self {
            names,
            places,
            styles,
        }
    }

    /// Returns what the file must have and does not.
    fn describe_absent(&self, lacking: &[String]) -> Vec<String> {
        let is_lacking = |place: &usize| lacking.contains(&self.names[*place]);
        let named = |places: &[usize]| {
            places
                .iter()
                .map(|place| quote_text(&self.names[*place]))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let needed = [VoteColumn::First, VoteColumn::Second, VoteColumn::Winner];
        let of_columns = self
            .places
            .iter()
            .filter(|(column, places)| needed.contains(column) || places.len() == 1);
        let mut absent: Vec<String> = of_columns
            .filter(|(_, places)| places.iter().all(is_lacking))
            .map(|(column, places)| {
                format!(
                    "has no column for the {}: {}",
                    column.argument_name(),
                    named(places)
                )
            })
            .collect();
        let of_styles = self
            .styles
            .iter()
            .filter(|pairs| pairs.iter().all(|pair| pair.iter().any(is_lacking)));
        absent.extend(
            of_styles.map(|pairs| format!("has no two columns for a style: {}", named(&pairs[0]))),
        );
        absent
    }
}

/// A table while it is read.
#[derive(Default)]
struct VoteTable {
    found: ImportedVotes,
    arms: BTreeMap<String, usize>,
    /// By vote: the voter and the prompt.
    units: [VoteUnitCodes; 2],
}

#[derive(Default)]
struct VoteUnitCodes {
    known: BTreeMap<String, u32>,
    codes: Vec<u32>,
    next: u32,
}

impl VoteUnitCodes {
    fn add_name(&mut self, name: Option<&str>) {
        let code = match name {
            Some(name) => *self.known.entry(name.to_owned()).or_insert(self.next),
            None => self.next,
        };
        self.next = self.next.max(code.saturating_add(1));
        self.codes.push(code);
    }

    fn into_codes(self) -> Option<Vec<u32>> {
        (!self.known.is_empty()).then_some(self.codes)
    }
}

/// Returns the text of a cell, or `None` if it holds none.
fn cell_text(cell: &RowCell) -> Option<&str> {
    let is_text = matches!(
        cell.kind,
        CellKind::Text | CellKind::Number | CellKind::Boolean
    );
    Some(cell.text.trim()).filter(|text| is_text && !text.is_empty())
}

impl VoteTable {
    /// Takes a row. Fails with what is wrong with it.
    fn add_row(&mut self, cells: &[RowCell], wanted: &VoteColumnPlaces) -> Result<(), String> {
        let of = |column: VoteColumn| {
            wanted.places[&column]
                .iter()
                .find_map(|place| cell_text(&cells[*place]))
        };
        let [first, second] = [VoteColumn::First, VoteColumn::Second].map(|column| {
            of(column).ok_or_else(|| format!("names no {} arm", column.argument_name()))
        });
        let (first, second) = (first?, second?);
        let Some(word) = of(VoteColumn::Winner) else {
            self.found.unvoted += 1;
            return Ok(());
        };
        if first == second {
            self.found.on_itself += 1;
            return Ok(());
        }
        let lower = word.to_lowercase();
        let voted = if word == first {
            VoteOutcome::First
        } else if word == second {
            VoteOutcome::Second
        } else if FIRST_WINS_WORDS.contains(&lower.as_str()) {
            VoteOutcome::First
        } else if SECOND_WINS_WORDS.contains(&lower.as_str()) {
            VoteOutcome::Second
        } else if TIE_WORDS.contains(&lower.as_str()) {
            VoteOutcome::Tie
        } else {
            return Err(format!(
                "{} is no vote on {} and {}",
                quote_text(word),
                quote_text(first),
                quote_text(second)
            ));
        };
        let mut values = Vec::with_capacity(wanted.styles.len());
        for (pairs, (style, _)) in wanted.styles.iter().zip(&self.found.styles) {
            let value = |place: usize| {
                cell_text(&cells[place])?
                    .parse::<f64>()
                    .ok()
                    .filter(|value| value.is_finite() && *value >= 0.0)
            };
            let found = pairs
                .iter()
                .find_map(|[one, other]| Some([value(*one)?, value(*other)?]));
            values.push(found.ok_or_else(|| {
                format!(
                    "has no two numbers from 0 up for the style {}",
                    quote_text(style)
                )
            })?);
        }
        let [first, second] = [first, second].map(|name| {
            *self.arms.entry(name.to_owned()).or_insert_with(|| {
                self.found.arms.push(name.to_owned());
                self.found.arms.len() - 1
            })
        });
        self.found.votes.push(PairVote {
            first,
            second,
            voted,
        });
        for ((_, all), value) in self.found.styles.iter_mut().zip(values) {
            all.push(value);
        }
        for (units, column) in self
            .units
            .iter_mut()
            .zip([VoteColumn::Voter, VoteColumn::Prompt])
        {
            units.add_name(of(column));
        }
        Ok(())
    }

    fn into_votes(self, sha256: String) -> ImportedVotes {
        let [voters, prompts] = self.units.map(VoteUnitCodes::into_codes);
        ImportedVotes {
            sha256,
            voters,
            prompts,
            ..self.found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, layout: &VoteLayout) -> Result<ImportedVotes, Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("votes.csv");
        std::fs::write(&path, text).expect("written");
        let plain = |problem: Problem| {
            format!(
                "{}: {}",
                problem
                    .line
                    .map_or_else(String::new, |line| line.to_string()),
                problem.message
            )
        };
        read_votes(&path, layout).map_err(|problems| problems.into_iter().map(plain).collect())
    }

    #[test]
    fn votes_of_an_arena() {
        let text = "question_id,model_a,model_b,winner,judge,tokens_a,tokens_b\n\
                    1,x,y,model_a,ann,10,20\n1,y,z,tie (bothbad),,5,5\n2,x,z,z,bob,1,0\n2,x,x,tie,bob,1,1\n3,x,y,,bob,1,1\n";
        let layout = VoteLayout {
            styles: vec!["tokens".to_owned()],
            ..VoteLayout::default()
        };
        let found = read(text, &layout).expect("votes");
        assert_eq!(found.arms, ["x", "y", "z"]);
        let voted: Vec<(usize, usize, VoteOutcome)> = found
            .votes
            .iter()
            .map(|vote| (vote.first, vote.second, vote.voted))
            .collect();
        assert_eq!(
            voted,
            [
                (0, 1, VoteOutcome::First),
                (1, 2, VoteOutcome::Tie),
                (0, 2, VoteOutcome::Second)
            ]
        );
        assert_eq!((found.on_itself, found.unvoted), (1, 1));
        assert_eq!(
            (found.voters, found.prompts),
            (Some(vec![0, 1, 2]), Some(vec![0, 0, 1]))
        );
        assert_eq!(
            found.styles,
            [(
                "tokens".to_owned(),
                vec![[10.0, 20.0], [5.0, 5.0], [1.0, 0.0]]
            )]
        );
    }

    #[test]
    fn columns_by_other_names() {
        let columns = BTreeMap::from([(VoteColumn::Winner, "better".to_owned())]);
        let found = read(
            "left,right,better\nx,y,left\n",
            &VoteLayout {
                columns,
                ..VoteLayout::default()
            },
        )
        .expect("votes");
        assert_eq!(
            (found.votes.len(), found.voters, found.prompts),
            (1, None, None)
        );
    }

    #[test]
    fn all_problems_at_once() {
        let usual = VoteLayout::default();
        let found = read(
            "model_a,model_b,winner\nx,y,purple\n,y,tie\nx,y,tie\n",
            &usual,
        )
        .expect_err("no votes");
        assert_eq!(
            found,
            [
                "2: `purple` is no vote on `x` and `y`",
                "3: names no first arm"
            ]
        );
        let found = read("model_a,winner\nx,x\n", &usual).expect_err("no second");
        assert!(
            found.len() == 1 && found[0].starts_with(": has no column for the second: `model_b`"),
            "{found:?}"
        );
        assert_eq!(
            read("model_a,model_b,winner\nx,x,tie\n", &usual).expect_err("nothing"),
            [": has no vote on two arms"]
        );
        let styled = VoteLayout {
            styles: vec!["words".to_owned()],
            ..VoteLayout::default()
        };
        assert!(
            read("model_a,model_b,winner\nx,y,tie\n", &styled).expect_err("no style")[0]
                .contains("`words_a`, `words_b`")
        );
    }
}

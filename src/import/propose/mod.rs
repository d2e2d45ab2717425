//! Proposing what the columns of a table are: from the first rows to an ordinary map, or to questions where two readings are plausible.
//!
//! The text of the map is all that comes out, so that what is shown, kept and read is the same. Nothing here reads a file.

mod draft;
mod long;
mod look;
mod runs;
mod summary;
mod verdict;
mod wide;
mod words;

use super::sample::Sample;
use draft::Draft;
use long::Arms;
pub use look::{Hints, Question, WideAre};
use look::Look;

/// What a table seems to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// A map in YAML.
    pub map: String,
    /// What was assumed, left out or passed over, each as a sentence.
    pub notes: Vec<String>,
    /// Rows that the reading was made from.
    pub rows: usize,
}

/// Proposes a map for one of the tables that a file may be, or says what has to be decided. `suite` is the suite's name where no column has it.
pub(super) fn propose(samples: &[Sample], hints: &Hints, suite: &str) -> Result<Reading, Vec<Question>> {
    let is_meant = |sample: &&Sample| {
        let is_sheet = hints.sheet.as_ref().is_none_or(|sheet| sample.layout.sheet.as_ref().is_none_or(|own| own == sheet));
        is_sheet && hints.list.as_ref().is_none_or(|list| sample.layout.list.as_ref() == Some(list))
    };
    let (mut readings, mut questions) = (Vec::new(), Vec::new());
    for sample in samples.iter().filter(is_meant) {
        match read(sample, hints, suite) {
            Ok(reading) => readings.push((sample, reading)),
            Err(open) => questions.push((sample, open)),
        }
    }
    // A table with most rows is what a document is about; where sheets or lists have as many, none of them is.
    let most = readings.iter().map(|(_, reading)| reading.rows).max();
    readings.retain(|(_, reading)| Some(reading.rows) == most);
    if let [(first, _), (second, _), ..] = readings.as_slice()
        && first.layout.sheet != second.layout.sheet
    {
        let name = |sample: &Sample| sample.layout.sheet.clone().unwrap_or_else(|| "the first sheet".to_owned());
        return Err(vec![Question::new(format!("`{}` and `{}` may each be the table", name(first), name(second)), "--sheet NAME")]);
    }
    // Of several paths to the same rows, the one that leads deepest knows most of what they are in.
    match readings.into_iter().max_by_key(|(sample, _)| sample.columns.len()) {
        Some((_, reading)) => Ok(reading),
        None => Err(questions.into_iter().max_by_key(|(sample, _)| sample.rows.len()).map(|(_, questions)| questions).unwrap_or_default()),
    }
}

fn read(sample: &Sample, hints: &Hints, suite: &str) -> Result<Reading, Vec<Question>> {
    let one = |question: Question| vec![question];
    let mut look = Look::new(sample, hints);
    if let Err(why) = &look.summary.decimal {
        return Err(one(Question::new(format!("numbers may be read in two ways: {why}"), "--decimal comma (or point)")));
    }
    if look.rows.is_empty() {
        return Err(one(Question::new("the table has no rows", "--map MAP")));
    }
    let unfolded = if Arms::of(&look, &[]).is_ok_and(|arms| runs::is_runs(&look, &arms)) { None } else { wide::unfold(&look).map_err(one)? };
    let draft = match unfolded {
        None => {
            let are_runs = Arms::of(&look, &[]).is_ok_and(|arms| runs::is_runs(&look, &arms));
            if are_runs { runs::read(&mut look, None, suite)? } else { long::read(&mut look, suite)? }
        }
        Some(unfolded) => {
            let mut inner = Look::new(&unfolded.sample, hints);
            let draft = match unfolded.are {
                WideAre::Suites => runs::read(&mut inner, Some(unfolded.are), suite)?,
                WideAre::Approaches | WideAre::Items => long::read(&mut inner, suite)?,
            };
            look.notes.append(&mut inner.notes);
            look.summary.missing.append(&mut inner.summary.missing);
            Draft { wide: Some(unfolded.draft), ..draft }
        }
    };
    look.summary.missing.sort();
    look.summary.missing.dedup();
    let draft = Draft {
        name: suite.to_owned(),
        layout: sample.layout.clone(),
        decimal: look.summary.decimal.ok().flatten(),
        missing: look.summary.missing,
        skip: look.skip,
        ..draft
    };
    Ok(Reading { map: draft.text(), notes: look.notes, rows: look.rows.len() })
}

//! JUnit XML, as test runners of every language write it.
//!
//! A file is a run, its cases are tests, and a retried case has the outcome of its last try. The format does not name arms: properties of a
//! suite or the command line name approach and model. The text is streamed; only XML's five entities and no document types are allowed, so
//! nothing can expand.

mod encoding;
mod header;
mod own;
mod runs;
mod totals;

use std::collections::BTreeMap;
use std::io::{BufReader, Read};

use crate::domain::{ItemDetails, ItemKind, ItemStatus, Problem, Unit, visible};
use crate::files::{Allowance, Bounded};
use crate::junit::{self, Case, Halt, Told};

use super::super::cell::Refused;
use super::super::rows::{MOST_RECORD_BYTES, Stop};
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::measured;
use super::namesakes::Namesakes;
use super::peek::{Content, Peek};
use super::sink::{Handle, Sink, clip};
use super::source::{ForeignFile, ForeignSource, stem};
use super::tries::{Try, told};
use encoding::{Decoded, Encoding};
use header::Header;
use own::Own;
use runs::{Runs, Suites};
use totals::Totals;

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "junit",
        title: "JUnit XML",
        kind: ItemKind::Test,
        reads_names: true,
        version: 5,
    },
    claim,
    read,
);

fn claim(peek: &Peek) -> Option<Claim> {
    let is_report = |head: &[u8]| matches!(first_element(head), Some(b"testsuites" | b"testsuite"));
    let is_ours = match peek.content {
        Content::Xml => is_report(&peek.head),
        // The first look does not recognise XML with two bytes per character.
        Content::Text => match Encoding::of(&peek.head) {
            Ok(encoding @ Some(Encoding::Utf16Little | Encoding::Utf16Big)) => {
                let mut head = Vec::new();
                Decoded::new(peek.head.as_slice(), encoding)
                    .read_to_end(&mut head)
                    .is_ok()
                    && is_report(&head)
            }
            Ok(Some(Encoding::Latin1 | Encoding::Windows1252) | None) | Err(_) => false,
        },
        Content::Json | Content::Zip => false,
    };
    is_ours.then_some(Claim::Alone)
}

/// Opens a report as UTF-8.
fn open(file: &ForeignFile) -> Result<(Option<Encoding>, impl Read), Stop> {
    let (encoding, reader) = encoding::examine(file.open()?)
        .map_err(|error| file.problem(format!("cannot be read: {error}")))?;
    let encoding = encoding.map_err(|name| {
        Stop::from(
            Problem::in_file(
                &file.shown,
                format!(
                    "is in the encoding `{}`, which is not read",
                    visible(&clip(&name, 50))
                ),
            )
            .with_hint("write it as UTF-8"),
        )
    })?;
    Ok((encoding, Decoded::new(reader, encoding)))
}

/// Returns the name of the first element after declarations and comments.
fn first_element(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head;
    loop {
        let start = memchr::memchr(b'<', rest)?;
        rest = rest.get(start + 1..)?;
        match rest.first()? {
            b'!' if rest.starts_with(b"!--") => {
                rest = rest.get(memchr::memmem::find(rest, b"-->")?..)?
            }
            b'?' | b'!' => rest = rest.get(memchr::memchr(b'>', rest)?..)?,
            _ => {
                let end = rest
                    .iter()
                    .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))?;
                let name = &rest[..end];
                return Some(name.rsplit(|byte| *byte == b':').next().unwrap_or(name));
            }
        }
    }
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one report").into());
    };
    let stem = stem(&source.name, ".xml");
    // Names and times usually come before the cases but may follow them, so the report is read twice.
    let (mut header, mut suites) = (Header::default(), Suites::default());
    let (encoding, reader) = open(file)?;
    walk(reader, &file.shown, &mut |told| {
        suites.take(&told);
        header.take(told, true);
        Ok(())
    })?;
    let runs = suites.runs();
    let headers = if runs.count > 1 {
        headers_of(file, &runs)?
    } else {
        vec![header]
    };
    let mut readings: Vec<Option<Reading<'_>>> = Vec::new();
    for (number, header) in headers.iter().enumerate() {
        let run = header.begin(stem, (headers.len() > 1).then_some(number), sink);
        readings.push(run.map(|run| Reading::of(run, header)));
    }
    if readings.iter().all(Option::is_none) {
        return Ok(());
    }
    if let Some(encoding) = encoding {
        sink.quirk(&format!("the report is read as {}", encoding.name()));
    }
    let (mut suite, mut current) = (None, 0);
    walk(open(file)?.1, &file.shown, &mut |told| {
        if let Told::Suite {
            depth: 0,
            is_whole: false,
            ..
        } = told
        {
            if let Some(reading) = &mut readings[current] {
                reading.end_case(sink)?;
            }
            suite = Some(suite.map_or(0, |suite| suite + 1));
            current = runs.of(suite);
        }
        match &mut readings[current] {
            Some(reading) => reading.take(told, sink),
            None => Ok(()),
        }
    })?;
    for (reading, header) in readings.iter_mut().zip(&headers) {
        if let Some(reading) = reading {
            reading.end(header, sink)?;
        }
    }
    Ok(())
}

/// Reads the header of each run of a report with several runs.
fn headers_of(file: &ForeignFile, runs: &Runs) -> Result<Vec<Header>, Stop> {
    let mut headers: Vec<Header> = (0..runs.count).map(|_| Header::default()).collect();
    let mut suite = None;
    walk(open(file)?.1, &file.shown, &mut |told| {
        match &told {
            Told::Suite {
                start,
                is_whole: true,
                depth,
            } => {
                for header in &mut headers {
                    header.take(
                        Told::Suite {
                            start,
                            depth: *depth,
                            is_whole: true,
                        },
                        false,
                    );
                }
                return Ok(());
            }
            Told::Suite { depth: 0, .. } => suite = Some(suite.map_or(0, |suite| suite + 1)),
            Told::Suite { .. } | Told::Property { .. } | Told::Case(_) => {}
        }
        headers[runs.of(suite)].take(told, false);
        Ok(())
    })?;
    Ok(headers)
}

/// State while cases are stored.
struct Reading<'h> {
    run: Handle,
    is_promptfoo: bool,
    namesakes: &'h Namesakes,
    /// Attempts by item and, in our own reports, evaluator.
    attempts: BTreeMap<(String, String), u32>,
    own: Option<Own>,
    /// The last case. The next one may belong to it.
    waiting: Option<Case>,
    place: u64,
    totals: Totals,
}

impl<'h> Reading<'h> {
    fn of(run: Handle, header: &'h Header) -> Self {
        Self {
            run,
            is_promptfoo: header.is_promptfoo(),
            namesakes: &header.namesakes,
            attempts: BTreeMap::new(),
            own: header.own(),
            waiting: None,
            place: 0,
            totals: Totals::default(),
        }
    }

    fn take(&mut self, told: Told<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let case = match told {
            Told::Case(case) => case,
            Told::Property { name, value } => {
                self.own.iter_mut().for_each(|own| own.take(name, value));
                return Ok(());
            }
            Told::Suite { .. } => {
                self.end_case(sink)?;
                self.own.iter_mut().for_each(Own::begin_suite);
                return Ok(());
            }
        };
        // pytest reports a failed teardown after a failed test as a second case of the same name.
        let is_teardown = case.is_teardown_of(self.waiting.as_ref());
        self.totals.count(&case, is_teardown);
        if is_teardown {
            if let Some(first) = &mut self.waiting {
                first.worsen(&case);
            }
            return Ok(());
        }
        self.end_case(sink)?;
        self.waiting = Some(*case);
        Ok(())
    }

    /// Stores the waiting case.
    fn end_case(&mut self, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let Some(ready) = self.waiting.take() else {
            return Ok(());
        };
        self.place += 1;
        self.store(&ready, self.place, sink)
    }

    fn end(&mut self, header: &Header, sink: &mut Sink<'_>) -> Result<(), Stop> {
        self.end_case(sink)?;
        if header.is_own
            && header.suites.len() == 1
            && self.place == 0
            && sink.outcomes_of(self.run) == 0
        {
            header.counts.tell(sink.run(self.run));
        }
        for (name, stated, counted) in header.totals.against(&self.totals) {
            sink.stated(
                self.run,
                name,
                stated as f64,
                Unit::Count,
                Some(counted as f64),
                None,
            );
        }
        Ok(())
    }

    fn store(&mut self, case: &Case, place: u64, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let id = case.id();
        let name = format!("test case {place}");
        if id.is_empty() {
            sink.refuse(&name, Refused::because("the test case has no name"));
            return Ok(());
        }
        let mut outcome = sink.outcome(self.run, &id, case.status());
        outcome.kind = ItemKind::Test;
        if let Some(own) = &self.own {
            own.tell(case, &mut outcome);
        }
        // The class of our own reports names the arm, which is no part of the item.
        let (id, evaluator) = match &self.own {
            Some(_) => (
                own::item(case.name().trim()).to_owned(),
                outcome.evaluator.clone(),
            ),
            None => (
                self.namesakes.apart(id, case.file(), case.suites()),
                String::new(),
            ),
        };
        let attempt = self.attempts.entry((id.clone(), evaluator)).or_default();
        if *attempt > 0 && self.own.is_none() {
            sink.quirk("repeated test cases are attempts");
        }
        if case.is_expected_failure {
            sink.quirk("tests that are expected to fail are skipped: outside of the pass rate");
        }
        *attempt = attempt.saturating_add(1);
        let status = match case.status() {
            ItemStatus::Error if self.is_promptfoo => {
                sink.quirk("promptfoo's errors are outages of a provider: missing, not wrong");
                ItemStatus::Infra
            }
            status => status,
        };
        if !case.others().is_empty() {
            sink.quirk("of a retried test the last attempt counts; its reason lists the others");
        }
        outcome.item.clone_from(&id);
        outcome.status = status;
        outcome.attempt = *attempt;
        outcome.duration_seconds = case.seconds();
        let mut details = ItemDetails {
            reason: reason(case),
            ..ItemDetails::default()
        };
        for (property, value) in &case.properties {
            measured::take(property, value, &mut outcome, &mut details);
        }
        sink.item(self.run, &name, outcome, details)
    }
}

/// Calls `tell` with each part of the report in order.
fn walk(
    reader: impl Read,
    label: &str,
    tell: &mut dyn FnMut(Told<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let left = Allowance::of_record(MOST_RECORD_BYTES);
    let reader = BufReader::with_capacity(64 << 10, Bounded::new(reader, &left));
    junit::walk(reader, &|| left.renew(), tell).map_err(|halt| match halt {
        Halt::Told(stop) => stop,
        Halt::CutOff => Problem::in_file(label, junit::CUT_OFF)
            .with_hint("nothing of it was imported; fetch the file again")
            .into(),
        Halt::Damaged(message) => Problem::in_file(label, visible(&message)).into(),
    })
}

/// Returns the case's reason with its other tries: earlier failed tries before a pass, later failed tries after a failure.
fn reason(case: &Case) -> Option<String> {
    let others: Vec<Try> = case
        .others()
        .iter()
        .map(|verdict| Try {
            status: verdict.status,
            reason: verdict.reason(),
        })
        .collect();
    let (before, after) = if case.status() == ItemStatus::Pass {
        (others, Vec::new())
    } else {
        (Vec::new(), others)
    };
    told(case.status(), case.own().reason(), &before, &after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_says_what_a_report_is() {
        for (head, expected) in [
            ("<testsuite name='a'>", Some("testsuite")),
            (
                "<?xml version=\"1.0\"?>\n<!-- <html> -->\n<testsuites>",
                Some("testsuites"),
            ),
            ("<!DOCTYPE x>\n<testsuite/>", Some("testsuite")),
            ("<html>", Some("html")),
            ("<", None),
            ("<!--", None),
            ("", None),
        ] {
            assert_eq!(
                first_element(head.as_bytes()),
                expected.map(str::as_bytes),
                "{head}"
            );
        }
    }

    fn cases(text: &str) -> Result<Vec<Case>, Stop> {
        let mut cases = Vec::new();
        walk(text.as_bytes(), "f", &mut |told| {
            if let Told::Case(case) = told {
                cases.push(*case);
            }
            Ok(())
        })?;
        Ok(cases)
    }

    #[test]
    fn no_text_is_too_much() {
        let whole = "<testsuites><testsuite name='s'><testcase classname='c' name='n' time='1'><failure message='m'>x</failure></testcase></testsuite></testsuites>";
        assert_eq!(cases(whole).expect("a report").len(), 1);
        for end in 0..whole.len() {
            let _ = cases(&whole[..end]);
        }
        for refused in [
            "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol1 \"&lol;&lol;\">]><testsuite><testcase name='&lol1;'/></testsuite>",
            "<html/>",
            "",
            "<testsuite>",
        ] {
            assert!(cases(refused).is_err(), "{refused}");
        }
        assert!(cases(&"<testsuite>".repeat(65)).is_err());
        let unknown =
            cases("<testsuite><testcase name='a'><failure>&lol;</failure></testcase></testsuite>")
                .expect("a report");
        assert_eq!(
            reason(&unknown[0]).as_deref(),
            Some("&lol;"),
            "no entity but those of XML is known"
        );
    }
}

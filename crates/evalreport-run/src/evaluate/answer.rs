//! The answer contract: an agent's last message must end in `<answer>choice</answer>`.
//!
//! The contract is strict so that scoring needs no judgement: a message that breaks it gets a named error, never a guess at its meaning. An
//! XML reader reads the element, so a choice such as `AT&T` must be escaped or in a CDATA section.

use std::fmt;

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, Event};

use crate::suite::ChoiceQuestion;

const OPENING_TAG: &str = "<answer";
const CLOSING_TAG: &str = "</answer>";
const WRONG_CLOSING: &str = "</answers>";

/// Why a message has no valid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerError {
    /// There is no `<answer>` element.
    Missing,
    /// Something follows the last `</answer>`.
    TrailingText,
    /// The element is not well-formed XML, or has content other than text.
    XmlError,
    /// The element is `<answers>` instead of `<answer>`.
    WrongTag,
    /// The element holds nothing but white space.
    Empty,
}

/// Result of comparing an answer with a question's choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerOutcome {
    Pass,
    /// The answer is one of the choices, but an incorrect one.
    WrongChoice,
    /// The answer is none of the choices. It is as wrong as a wrong choice, but counted separately.
    InvalidChoice,
}

impl AnswerError {
    pub const ALL: [Self; 5] = [
        Self::Missing,
        Self::TrailingText,
        Self::XmlError,
        Self::WrongTag,
        Self::Empty,
    ];

    /// Returns the name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::TrailingText => "trailing_text",
            Self::XmlError => "xml_error",
            Self::WrongTag => "wrong_tag",
            Self::Empty => "empty",
        }
    }
}

impl fmt::Display for AnswerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl std::error::Error for AnswerError {}

impl AnswerOutcome {
    pub const ALL: [Self; 3] = [Self::Pass, Self::WrongChoice, Self::InvalidChoice];

    /// Returns the name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::WrongChoice => "wrong_choice",
            Self::InvalidChoice => "invalid_choice",
        }
    }
}

impl fmt::Display for AnswerOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Returns the answer at the end of an agent's last message, decoded and trimmed.
pub fn parse_answer(text: &str) -> Result<String, AnswerError> {
    let text = text.trim();
    let Some(closing) = text.rfind(CLOSING_TAG) else {
        return Err(if text.contains(WRONG_CLOSING) {
            AnswerError::WrongTag
        } else {
            AnswerError::Missing
        });
    };
    if closing + CLOSING_TAG.len() != text.len() {
        return Err(AnswerError::TrailingText);
    }
    let Some(opening) = last_tag(&text[..closing], OPENING_TAG) else {
        let has_wrong_tag = last_tag(&text[..closing], "<answers").is_some();
        return Err(if has_wrong_tag {
            AnswerError::WrongTag
        } else {
            AnswerError::Missing
        });
    };
    let answer = read_element(&text[opening..]).ok_or(AnswerError::XmlError)?;
    match answer.trim() {
        "" => Err(AnswerError::Empty),
        answer => Ok(answer.to_owned()),
    }
}

/// Compares an answer with the choices, ignoring case and surrounding white space.
pub fn score_answer(question: &ChoiceQuestion, answer: &str) -> AnswerOutcome {
    match question.find_choice(answer) {
        Some(position) if question.correct.contains(&position) => AnswerOutcome::Pass,
        Some(_) => AnswerOutcome::WrongChoice,
        None => AnswerOutcome::InvalidChoice,
    }
}

/// Finds the last opening tag with exactly this name: `<answer` does not match `<answers>`.
fn last_tag(text: &str, opening: &str) -> Option<usize> {
    let ends_name = |start: &usize| {
        let next = text[start + opening.len()..].chars().next();
        next.is_none_or(|next| next == '>' || next == '/' || is_space(next))
    };
    text.rmatch_indices(opening)
        .map(|(start, _)| start)
        .find(ends_name)
}

/// Reads the text of `xml`, which must be one element without attributes, child elements, comments or processing instructions.
fn read_element(xml: &str) -> Option<String> {
    // The reader does not check which characters are allowed, so check them here.
    if !xml.chars().all(is_xml_character) {
        return None;
    }
    let mut reader = Reader::from_str(xml);
    match reader.read_event().ok()? {
        Event::Start(start)
            if start.name().as_ref() == b"answer"
                && start.attributes_raw().iter().all(u8::is_ascii_whitespace) => {}
        _ => return None,
    }
    let mut content = String::new();
    loop {
        match reader.read_event().ok()? {
            Event::Text(text) => {
                let text = text.xml10_content().ok()?;
                // XML does not allow the end of a CDATA section in plain text.
                if text.contains("]]>") {
                    return None;
                }
                content.push_str(&text);
            }
            Event::CData(data) => content.push_str(&data.xml10_content().ok()?),
            Event::GeneralRef(reference) => push_reference(&mut content, &reference)?,
            Event::End(_) => break,
            Event::Start(_)
            | Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::Eof => {
                return None;
            }
        }
    }
    match reader.read_event().ok()? {
        Event::Eof => Some(content),
        _ => None,
    }
}

/// Adds the character of `&#…;` or of one of XML's five named entities. There is no document type that could declare others.
fn push_reference(content: &mut String, reference: &BytesRef) -> Option<()> {
    match reference.resolve_char_ref().ok()? {
        Some(character) if is_xml_character(character) => content.push(character),
        Some(_) => return None,
        None => content.push_str(resolve_xml_entity(&reference.decode().ok()?)?),
    }
    Some(())
}

/// Says whether an XML 1.0 document may contain the character.
fn is_xml_character(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => character >= ' ',
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quick_xml::escape::escape;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, AnswerError>) {
        assert_eq!(parse_answer(text), expected.map(str::to_owned), "{text:?}");
    }

    #[test]
    fn a_message_ends_in_its_answer() {
        check("Reasoning.\n<answer>Blue</answer>", Ok("Blue"));
        check("  <answer>\n Blue \t</answer>\n\n", Ok("Blue"));
        check("<answer >Blue</answer>", Ok("Blue"));
        check("a < b & c <answer>Blue</answer>", Ok("Blue"));
        check(
            "<answer>two words\r\nand lines</answer>",
            Ok("two words\nand lines"),
        );
        check("```xml\n<answer>Blue</answer>", Ok("Blue"));
    }

    #[test]
    fn of_two_answers_the_last_counts() {
        check("<answer>a</answer><answer>b</answer>", Ok("b"));
        check("<answer>a</answer> no: <answer>b</answer>", Ok("b"));
        check("the form is <answer> and then <answer>b</answer>", Ok("b"));
        check("<answer>a <answer>b</answer>", Ok("b"));
    }

    #[test]
    fn nothing_to_read_is_missing() {
        for text in [
            "",
            " \n",
            "Blue",
            "<answer>Blue",
            "<ANSWER>x</ANSWER>",
            "<Answer>x</answer>",
            "x</answer>",
            "</answer>",
            "<answer/>",
        ] {
            check(text, Err(AnswerError::Missing));
        }
        check("<answer>x</ANSWER>", Err(AnswerError::Missing));
        check("<answer>x</answer >", Err(AnswerError::Missing));
        check("<answerx>x</answer>", Err(AnswerError::Missing));
    }

    #[test]
    fn nothing_follows_an_answer() {
        check("a <answer>ok</answer> b", Err(AnswerError::TrailingText));
        check(
            "```\n<answer>x</answer>\n```",
            Err(AnswerError::TrailingText),
        );
        check("<answer>x</answer>.", Err(AnswerError::TrailingText));
        check(
            "<answers><answer>x</answer></answers>",
            Err(AnswerError::TrailingText),
        );
        check("<answer>x</answer><answer>", Err(AnswerError::TrailingText));
        check("x</answer> y", Err(AnswerError::TrailingText));
    }

    #[test]
    fn the_plural_is_another_tag() {
        check("<answers>x</answers>", Err(AnswerError::WrongTag));
        check(
            "Reasoning. <answers>x</answers>",
            Err(AnswerError::WrongTag),
        );
        check("<answers>x</answer>", Err(AnswerError::WrongTag));
        check("not <answers> but <answer>x</answer>", Ok("x"));
    }

    #[test]
    fn an_answer_without_content_is_empty() {
        for text in [
            "<answer></answer>",
            "<answer> \n</answer>",
            "<answer>&#32;</answer>",
            "<answer><![CDATA[]]></answer>",
        ] {
            check(text, Err(AnswerError::Empty));
        }
    }

    #[test]
    fn the_element_is_xml() {
        check("<answer>AT&amp;T</answer>", Ok("AT&T"));
        check(
            "<answer>&lt;b&gt; &quot;&apos; &#233;&#xE9;</answer>",
            Ok("<b> \"' éé"),
        );
        check("<answer>AT&T</answer>", Err(AnswerError::XmlError));
        check("<answer>AT & T</answer>", Err(AnswerError::XmlError));
        check("<answer>a < b</answer>", Err(AnswerError::XmlError));
        for entity in [
            "&nbsp;",
            "&eacute;",
            "&;",
            "&#;",
            "&#x;",
            "&#0;",
            "&#27;",
            "&#xFFFE;",
            "&#xD800;",
            "&#x110000;",
            "&#-1;",
            "&AMP;",
        ] {
            check(
                &format!("<answer>{entity}</answer>"),
                Err(AnswerError::XmlError),
            );
        }
    }

    #[test]
    fn cdata_is_text() {
        check("<answer><![CDATA[AT&T]]></answer>", Ok("AT&T"));
        check("<answer>a <![CDATA[<b>]]> c</answer>", Ok("a <b> c"));
        check("<answer><![CDATA[</answer>]]></answer>", Ok("</answer>"));
        check("<answer><![CDATA[x</answer>", Err(AnswerError::XmlError));
        check("<answer>]]></answer>", Err(AnswerError::XmlError));
        // The last opening tag counts, even inside a CDATA section.
        check(
            "<answer><![CDATA[<answer>]]></answer>",
            Err(AnswerError::XmlError),
        );
    }

    #[test]
    fn the_element_holds_nothing_but_text() {
        for text in [
            "<answer><b>x</b></answer>",
            "<answer>x<br/></answer>",
            "<answer>x <answers> y</answer>",
            "<answer id=\"1\">x</answer>",
            "<answer id>x</answer>",
            "<answer/>x</answer>",
            "<answer/x>x</answer>",
            "<answer><answer>x</answer></answer>",
            "<answer>x<!-- y --></answer>",
            "<answer>x</answer><!-- </answer>",
            "<answer><?php x ?></answer>",
            "<answer><!DOCTYPE x></answer>",
            "<answer>x</b></answer>",
            "<answer>\0</answer>",
            "<answer>\u{1b}[1mBlue</answer>",
            "<answer>\u{ffff}</answer>",
            "<answer</answer>",
        ] {
            check(text, Err(AnswerError::XmlError));
        }
    }

    #[test]
    fn names_are_what_results_hold() {
        assert_eq!(
            AnswerError::ALL.map(AnswerError::name),
            [
                "missing",
                "trailing_text",
                "xml_error",
                "wrong_tag",
                "empty"
            ]
        );
        assert_eq!(
            AnswerOutcome::ALL.map(AnswerOutcome::name),
            ["pass", "wrong_choice", "invalid_choice"]
        );
    }

    #[test]
    fn an_answer_is_compared_whatever_its_case() {
        let question = ChoiceQuestion {
            id: "q1".to_owned(),
            generated_id: false,
            question: "?".to_owned(),
            answers: ["Blue", "ÉCRU", "red"].map(str::to_owned).to_vec(),
            correct: vec![0, 1],
            grader: None,
            category: None,
            cluster: None,
        };
        for (answer, outcome) in [
            ("blue", AnswerOutcome::Pass),
            (" BLUE\n", AnswerOutcome::Pass),
            ("écru", AnswerOutcome::Pass),
            ("Red", AnswerOutcome::WrongChoice),
            ("green", AnswerOutcome::InvalidChoice),
            ("blue.", AnswerOutcome::InvalidChoice),
        ] {
            assert_eq!(score_answer(&question, answer), outcome, "{answer}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_is_one_answer_at_the_end(
            text in "(<answer>|</answer>|<answers>|</answers>|<answer |<!\\[CDATA\\[|\\]\\]>|<!--|-->|&amp;|&#9;|&|<|>|[a-c \n\0é]){0,12}",
        ) {
            if let Ok(answer) = parse_answer(&text) {
                prop_assert!(!answer.trim().is_empty());
                prop_assert_eq!(answer.trim(), &answer);
                prop_assert!(text.trim_end().ends_with("</answer>"));
                // Text before the last element does not matter.
                let start = last_tag(&text[..text.rfind(CLOSING_TAG).expect("it ends so")], OPENING_TAG).expect("it has one");
                prop_assert_eq!(parse_answer(&text[start..]), Ok(answer));
                prop_assert_eq!(text[start + 1..].matches("<answer>").count(), 0);
            }
        }

        #[test]
        fn no_text_is_too_much(text in any::<String>()) {
            let _ = parse_answer(&text);
            let _ = parse_answer(&format!("<answer>{text}</answer>"));
        }

        #[test]
        fn an_escaped_choice_comes_back(choice in "[ -~é漢\u{1f600}]{0,20}[!-~é漢]", before in "[ -~\n]{0,20}") {
            let text = format!("{before}\n<answer>{}</answer>", escape(choice.as_str()));
            prop_assert_eq!(parse_answer(&text), Ok(choice.trim().to_owned()));
        }
    }
}

//! Question specs: questions, their choices and the right answers.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::files;
use crate::document::{self, Fields, Node, Value, ValueForm, nearest_hint, quote_text};
use crate::domain::{Problem, escape_invisible, to_hex};
use crate::grade::{Grader, read_grader};

const SPEC_VERSION: i64 = 1;
/// Name of the file's JSON Schema.
pub const QUESTIONS_SCHEMA: &str = "questions";
/// Room for tens of thousands of questions.
const MAX_BYTES: u64 = 64 << 20;

/// A valid question file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionSpec {
    /// At least one question, in file order, with unique ids.
    pub questions: Vec<ChoiceQuestion>,
    /// SHA-256 of everything that affects outcomes: ids, texts, choices, right answers and clusters. Lower-case hex.
    pub version: String,
    /// SHA-256 of the file's bytes, the version in earlier releases.
    pub bytes: String,
}

/// One question. All texts are trimmed and non-empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceQuestion {
    pub id: String,
    /// Whether the id was generated from the question's position and content because the file has none.
    pub generated_id: bool,
    pub question: String,
    /// The choices, all different after [`normalize_answer`]. Empty with a grader.
    pub answers: Vec<String>,
    /// Positions of the right choices in `answers`, ascending; at least one without a grader.
    pub correct: Vec<usize>,
    /// Grades free answers. `None` if the answer is one of `answers`.
    pub grader: Option<Grader>,
    /// The kind of question. For readers only: it does not imply dependence.
    pub category: Option<String>,
    /// Questions of one cluster are dependent, for example because they share a passage or a template.
    pub cluster: Option<String>,
}

impl ChoiceQuestion {
    /// Returns the probability that a random choice is right; 0 if there is nothing to choose from.
    pub fn chance_level(&self) -> f64 {
        match &self.grader {
            Some(grader) => grader.chance_level(),
            None => self.correct.len() as f64 / self.answers.len() as f64,
        }
    }

    /// Returns the right answers as people read them.
    pub fn expected(&self) -> Vec<String> {
        match &self.grader {
            Some(grader) => grader.expected().to_vec(),
            None => self
                .correct
                .iter()
                .map(|place| self.answers[*place].clone())
                .collect(),
        }
    }

    /// Returns the position of the choice equal to `text`, ignoring case and surrounding space.
    pub fn find_choice(&self, text: &str) -> Option<usize> {
        let text = normalize_answer(text);
        self.answers
            .iter()
            .position(|answer| normalize_answer(answer) == text)
    }
}

/// Returns the form in which answers are compared: trimmed, in Unicode lower case.
///
/// This is not full case folding: `ß` does not equal `ss`, and `İ` becomes `i` with a dot above.
pub fn normalize_answer(text: &str) -> String {
    text.trim().to_lowercase()
}

pub fn load_questions(path: &Path) -> Result<QuestionSpec, Vec<Problem>> {
    let file = escape_invisible(&path.display().to_string());
    let text = files::read_text(path, MAX_BYTES)
        .map_err(|message| vec![Problem::in_file(&file, message)])?;
    parse_questions(&file, &text)
}

/// Parses the `text` of `file`. The name `file` decides between YAML and JSON, and appears in each problem.
pub fn parse_questions(file: &str, text: &str) -> Result<QuestionSpec, Vec<Problem>> {
    let root = document::parse(file, text)?;
    let mut problems = Vec::new();
    let questions = Fields::new(file, &root, "", &mut problems).map(read_fields);
    match questions {
        Some(questions) if problems.is_empty() => Ok(QuestionSpec {
            version: hash_questions(&questions),
            bytes: to_hex(&Sha256::digest(text)),
            questions,
        }),
        Some(_) | None => {
            problems.sort();
            Err(problems)
        }
    }
}

/// Returns the digest of everything that affects outcomes. Excludes the category.
fn hash_questions(questions: &[ChoiceQuestion]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"questions 2\n");
    let mut add = |text: &str| hasher.update(format!("{}:{text}", text.len()));
    for ChoiceQuestion {
        id,
        generated_id: _,
        question,
        answers,
        correct,
        grader,
        category: _,
        cluster,
    } in questions
    {
        for text in [id, question] {
            add(text);
        }
        add(&answers.len().to_string());
        for answer in answers {
            add(answer);
        }
        add(&format!("{correct:?}"));
        add(cluster.as_deref().unwrap_or_default());
        if let Some(grader) = grader {
            add(grader.settings());
        }
    }
    to_hex(&hasher.finalize())
}

/// Returns the JSON Schema of question specs, for editors: the keys that [`parse_questions`] asks for.
///
/// It refuses unknown keys, missing ones and values of another type. Only [`parse_questions`] checks empty lists, repeated texts, and that
/// the right answers are among the choices.
pub fn questions_schema(repository: &str) -> serde_json::Value {
    let form = Fields::derive_form(|fields| drop(read_fields(fields)));
    let description =
        "Questions with their right answers. `evalreport help question-evaluation` has every key.";
    form.to_file_schema(
        QUESTIONS_SCHEMA,
        repository,
        "Question spec of evalreport",
        description,
    )
}

fn read_fields(mut fields: Fields) -> Vec<ChoiceQuestion> {
    check_version(&mut fields);
    match fields.child("questions").map(|node| &node.value) {
        None => fields.reject_missing("questions"),
        Some(Value::List(items)) if items.is_empty() => {
            fields.reject("questions", "`questions` is empty", None);
        }
        // Values that are not lists are rejected below.
        Some(Value::List(_) | Value::Scalar(_) | Value::Map(_)) => {}
    }
    let mut lines = BTreeMap::new();
    let mut position = 0;
    let questions = fields.read_each("questions", |fields| {
        position += 1;
        read_question(fields, position, &mut lines)
    });
    fields.finish();
    questions
}

fn check_version(fields: &mut Fields) {
    fields.note_form("version", || ValueForm::Exactly(SPEC_VERSION));
    fields.note_required("version");
    let hint = || Some(format!("write version: {SPEC_VERSION}"));
    if fields.child("version").is_none() {
        fields.reject("version", "`version` is missing", hint());
    } else if let Some(version) = fields.integer("version")
        && version != SPEC_VERSION
    {
        fields.reject(
            "version",
            format!("version `{version}` is not supported"),
            hint(),
        );
    }
}

/// Reads a question. `lines` holds the ids seen so far.
fn read_question(
    mut fields: Fields,
    position: usize,
    lines: &mut BTreeMap<String, usize>,
) -> Option<ChoiceQuestion> {
    fields.note_form("id", || ValueForm::Filled);
    let id = if fields.child("id").is_some() {
        Some(read_id(&mut fields, lines))
    } else {
        None
    };
    let question = read_trimmed(&mut fields, "question", KeyNeed::Required);
    let has_grader = fields.child("grader").is_some();
    let grader = read_grader(&mut fields, "grader");
    let (answers, correct) = if has_grader {
        refuse_choices(&mut fields);
        (Some(Vec::new()), Some(Vec::new()))
    } else {
        let answers = read_answers(&mut fields);
        let correct = read_correct(&mut fields, answers.as_deref());
        (answers, correct)
    };
    let category = read_trimmed(&mut fields, "category", KeyNeed::Optional);
    let cluster = read_trimmed(&mut fields, "cluster", KeyNeed::Optional);
    fields.finish();
    let (question, answers, correct) = (question?, answers?, correct?);
    if has_grader && grader.is_none() {
        return None;
    }
    let (id, generated_id) = match id {
        Some(id) => (id?, false),
        None => (generate_id(position, &question, &answers), true),
    };
    Some(ChoiceQuestion {
        id,
        generated_id,
        question,
        answers,
        correct,
        grader,
        category,
        cluster,
    })
}

/// Refuses the keys of multiple choice beside a grader: a question has one right answer in one place.
fn refuse_choices(fields: &mut Fields) {
    for key in ["answers", "correct_answers"] {
        if fields.child(key).is_some() {
            let hint =
                "the grader has the right answer, and `options` of a grader `choice` the choices";
            let message = format!("`{key}` does not go with `grader`");
            fields.reject(key, message, Some(hint.to_owned()));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyNeed {
    Required,
    Optional,
}

fn read_trimmed(fields: &mut Fields, key: &str, need: KeyNeed) -> Option<String> {
    if need == KeyNeed::Optional {
        fields.note_form(key, || ValueForm::Filled);
        fields.child(key)?;
    }
    fields.required_text(key).map(|text| text.trim().to_owned())
}

fn read_id(fields: &mut Fields, lines: &mut BTreeMap<String, usize>) -> Option<String> {
    let id = read_trimmed(fields, "id", KeyNeed::Optional)?;
    if let Some(first) = lines.get(&id) {
        let hint = format!("it is already on line {first}; give one of them another id");
        fields.reject(
            "id",
            format!("duplicate question {}", quote_text(&id)),
            Some(hint),
        );
        return None;
    }
    lines.insert(id.clone(), fields.line_of("id"));
    Some(id)
}

/// Generates an id. The position separates equal questions; the content separates results of a changed question.
fn generate_id(position: usize, question: &str, answers: &[String]) -> String {
    let mut hasher = Sha256::new();
    for text in std::iter::once(question).chain(answers.iter().map(String::as_str)) {
        hasher.update(format!("{}:{text}\n", text.len()));
    }
    format!("q{position}-{}", &to_hex(&hasher.finalize())[..8])
}

fn read_answers(fields: &mut Fields) -> Option<Vec<String>> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_sound = true;
    let answers = read_texts(fields, "answers", |fields, item, text| {
        let Some(first) = lines.insert(normalize_answer(text), item.line) else {
            return;
        };
        is_sound = false;
        let hint = format!("it is already on line {first}, apart from its case");
        reject_item(
            fields,
            item,
            format!("duplicate choice {}", quote_text(text)),
            Some(hint),
        );
    })?;
    is_sound.then_some(answers)
}

/// Reads the right answers. Without valid choices, only checks the texts themselves.
fn read_correct(fields: &mut Fields, answers: Option<&[String]>) -> Option<Vec<usize>> {
    let mut positions: BTreeMap<usize, usize> = BTreeMap::new();
    let mut is_sound = true;
    read_texts(fields, "correct_answers", |fields, item, text| {
        let Some(answers) = answers else { return };
        let wanted = normalize_answer(text);
        let (message, hint) = match answers
            .iter()
            .position(|answer| normalize_answer(answer) == wanted)
        {
            Some(position) => match positions.insert(position, item.line) {
                None => return,
                Some(first) => (
                    format!("duplicate correct answer {}", quote_text(text)),
                    Some(format!("it is already on line {first}")),
                ),
            },
            None => {
                let hint = nearest_hint(text, answers.iter().map(String::as_str));
                (
                    format!(
                        "the correct answer {} is not one of the `answers`",
                        quote_text(text)
                    ),
                    hint,
                )
            }
        };
        is_sound = false;
        reject_item(fields, item, message, hint);
    })?;
    (is_sound && answers.is_some()).then(|| positions.into_keys().collect())
}

/// Reads a required, non-empty list of non-blank texts, trimmed. Returns `None` if any is invalid.
fn read_texts(
    fields: &mut Fields,
    key: &str,
    mut check: impl FnMut(&mut Fields, &Node, &str),
) -> Option<Vec<String>> {
    fields.note_form(key, || ValueForm::list_of(ValueForm::Filled));
    if fields.child(key).is_none() {
        // Not `reject_missing`: with a grader the key is not needed.
        let message = format!("{} is missing", quote_text(&fields.path_of(key)));
        fields.reject(key, message, None);
        return None;
    }
    let items = fields.list(key)?;
    let path = fields.path_of(key);
    if items.is_empty() {
        fields.reject(key, format!("{} is empty", quote_text(&path)), None);
        return None;
    }
    let mut texts = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Some(text) = fields.text_of(item, &path) else {
            continue;
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            reject_item(
                fields,
                item,
                format!("{} is empty", quote_text(&path)),
                None,
            );
            continue;
        }
        check(fields, item, &text);
        texts.push(text);
    }
    (texts.len() == items.len()).then_some(texts)
}

fn reject_item(fields: &mut Fields, item: &Node, message: String, hint: Option<String>) {
    let problem = Problem::at_position(fields.file(), item.line, item.column, message);
    fields.problems().push(match hint {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "version: 1
questions:
  - id: ' q1 '
    question: |
      What is 2+2?
    answers: [' 3', '4', \"Five \"]
    correct_answers: ['4 ', FIVE]
    category: sums
    cluster: passage 1
  - {question: Only one?, answers: [x], correct_answers: [X]}
";

    #[track_caller]
    fn refused(file: &str, text: &str, expected: &[&str]) {
        let shown = |problem: &Problem| match &problem.hint {
            Some(hint) => format!("{problem} [{hint}]"),
            None => problem.to_string(),
        };
        let problems: Vec<String> = parse_questions(file, text)
            .expect_err("the spec is wrong")
            .iter()
            .map(shown)
            .collect();
        assert_eq!(problems, expected);
    }

    #[test]
    fn everything_is_trimmed_and_right_answers_are_found_whatever_their_case() {
        let spec = parse_questions("q.yaml", SOUND).expect("a sound spec");
        let texts = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            spec.questions[0],
            ChoiceQuestion {
                id: "q1".to_owned(),
                generated_id: false,
                question: "What is 2+2?".to_owned(),
                answers: texts(&["3", "4", "Five"]),
                correct: vec![1, 2],
                grader: None,
                category: Some("sums".to_owned()),
                cluster: Some("passage 1".to_owned()),
            }
        );
        assert_eq!(
            (
                spec.questions[1].correct.as_slice(),
                spec.questions[1].chance_level()
            ),
            ([0].as_slice(), 1.0)
        );
        assert!((spec.questions[0].chance_level() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(spec.questions[0].find_choice(" FIVE\n"), Some(2));
        assert_eq!(spec.questions[0].find_choice("six"), None);
    }

    #[test]
    fn json_and_yaml_are_the_same_questions() {
        let json = r#"{"version": 1, "questions": [{"id": "a", "question": "?", "answers": ["x", "y"], "correct_answers": ["y"]}]}"#;
        let from_json = parse_questions("q.JSON", json).expect("sound JSON");
        let yaml = "version: 1\nquestions: [{id: a, question: '?', answers: [x, 'y'], correct_answers: ['y']}]\n";
        assert_eq!(
            from_json.questions,
            parse_questions("q.yml", yaml)
                .expect("sound YAML")
                .questions
        );
        assert_eq!(
            from_json.questions,
            parse_questions("q.txt", json)
                .expect("JSON is YAML")
                .questions
        );
        assert!(parse_questions("q.json", yaml).is_err());
    }

    #[test]
    fn a_missing_id_becomes_one_of_position_and_content() {
        let of = |text: &str| {
            parse_questions("q.yaml", text)
                .expect("a sound spec")
                .questions
        };
        let original = of(SOUND)[1].clone();
        assert!(original.generated_id);
        assert_eq!(original.id, "q2-68bbbda3");
        let moved = of(&format!(
            "{SOUND}  - {{question: Only one?, answers: [x], correct_answers: [x]}}\n"
        ));
        assert_eq!(moved[1].id, original.id);
        assert_eq!(moved[2].id, original.id.replace("q2", "q3"));
        assert_ne!(
            of(&SOUND.replace("Only one?", "Only two?"))[1].id,
            original.id
        );
        assert_ne!(of(&SOUND.replace("[x]", "[x, z]"))[1].id, original.id);
    }

    #[test]
    fn the_version_is_of_what_decides() {
        let version = |text: &str| {
            parse_questions("q.yaml", text)
                .expect("a sound spec")
                .version
        };
        let bytes = |text: &str| parse_questions("q.yaml", text).expect("a sound spec").bytes;
        assert_eq!(bytes(SOUND), to_hex(&Sha256::digest(SOUND)));
        let noted = format!("{SOUND}# a note\n");
        assert_eq!(version(SOUND), version(&noted));
        assert_ne!(bytes(SOUND), bytes(&noted));
    }

    #[test]
    fn all_problems_come_in_one_report() {
        refused(
            "q.yaml",
            "version: 2
question: []
questions:
  - {id: a, question: ' ', answers: [x, '', X, 4], correct_answers: [x, z]}
  - {id: ' a ', question: q, answers: [], correct_answers: []}
  - {id: 007, question: q, answers: [Paris, Rome], correct_answers: [paris, Pariss, PARIS, London]}
  - {id: b, qestion: q, correct_answer: [x], category: ''}
  - text
  - {id: ' ', question: q, answers: x, correct_answers: [x]}
",
            &[
                "q.yaml:1:10: version `2` is not supported [write version: 1]",
                "q.yaml:2:1: unknown key `question` [did you mean `questions`?]",
                "q.yaml:4:23: `questions[0].question` is empty",
                "q.yaml:4:41: `questions[0].answers[1]` is empty",
                "q.yaml:4:45: duplicate choice `X` [it is already on line 4, apart from its case]",
                "q.yaml:4:48: `questions[0].answers[3]` must be text, not a number [write \"4\"]",
                "q.yaml:5:10: duplicate question `a` [it is already on line 4; give one of them another id]",
                "q.yaml:5:39: `questions[1].answers` is empty",
                "q.yaml:5:60: `questions[1].correct_answers` is empty",
                "q.yaml:6:10: `questions[2].id` must be text, not a number [write \"007\"]",
                "q.yaml:6:77: the correct answer `Pariss` is not one of the `answers` [did you mean `Paris`?]",
                "q.yaml:6:85: duplicate correct answer `PARIS` [it is already on line 6]",
                "q.yaml:6:92: the correct answer `London` is not one of the `answers`",
                "q.yaml:7:5: `questions[3].answers` is missing",
                "q.yaml:7:5: `questions[3].correct_answers` is missing",
                "q.yaml:7:5: `questions[3].question` is missing",
                "q.yaml:7:13: unknown key `questions[3].qestion` [did you mean `question`?]",
                "q.yaml:7:25: unknown key `questions[3].correct_answer` [did you mean `correct_answers`?]",
                "q.yaml:7:56: `questions[3].category` is empty",
                "q.yaml:8:5: `questions[4]` must be a map of keys, not text",
                "q.yaml:9:10: `questions[5].id` is empty",
                "q.yaml:9:37: `questions[5].answers` must be a list, not text",
            ],
        );
    }

    #[test]
    fn a_file_without_questions_is_refused() {
        refused("q.yaml", "", &["q.yaml: the file is empty"]);
        refused(
            "q.yaml",
            "version: 1\nquestions: []\n",
            &["q.yaml:2:12: `questions` is empty"],
        );
        refused(
            "q.yaml",
            "version: 1\nquestions:\n",
            &["q.yaml:1:1: `questions` is missing"],
        );
        refused(
            "q.yaml",
            "questions: x\n",
            &[
                "q.yaml:1:1: `version` is missing [write version: 1]",
                "q.yaml:1:12: `questions` must be a list, not text",
            ],
        );
        refused(
            "q.yaml",
            "- a\n",
            &["q.yaml:1:1: the file must be a map of keys, not a list"],
        );
        refused(
            "q.yaml",
            &format!("{SOUND}---\n{SOUND}"),
            &["q.yaml:11:1: a second document starts here [keep one document per file]"],
        );
        refused(
            "q.yaml",
            &SOUND.replace("version: 1", "version: '1'"),
            &["q.yaml:1:10: `version` must be a whole number, not text [write 1 without quotes]"],
        );
    }

    #[test]
    fn a_grader_takes_the_place_of_choices() {
        let text = "version: 1
questions:
  - {id: a, question: '?', grader: {kind: number, expected: 42, unit: km}}
  - {id: b, question: '?', grader: {kind: choice, options: [x, y], expected: B}}
";
        let spec = parse_questions("q.yaml", text).expect("sound");
        let [number, choice] = spec.questions.as_slice() else {
            panic!("{spec:?}")
        };
        assert_eq!(number.expected(), ["42"]);
        assert_eq!((number.chance_level(), choice.chance_level()), (0.0, 0.5));
        assert_eq!(choice.expected(), ["B: y"]);
        let other = text.replace("expected: 42", "expected: 43");
        assert_ne!(
            parse_questions("q.yaml", &other).expect("sound").version,
            spec.version
        );
    }

    #[test]
    fn every_fault_of_graders_is_told_at_once() {
        refused(
            "q.yaml",
            "version: 1
questions:
  - {question: '?', answers: [a], grader: {kind: regex, pattern: '(?=a)b'}}
  - {question: '?', grader: {kind: exact, expected: 42}}
  - {question: '?', grader: {kind: exact, expected: no}}
  - {question: '?', grader: {kind: number}}
  - {question: '?', grader: {kind: poem}}
",
            &[
                "q.yaml:3:30: `answers` does not go with `grader` [the grader has the right answer, and `options` of a grader `choice` the choices]",
                "q.yaml:3:66: cannot use the pattern `(?=a)b`: look-around, including look-ahead and look-behind, is not supported [patterns take linear time, so they have no look-around and no back-references]",
                "q.yaml:4:53: `questions[1].grader.expected` must be text in quotes, not `42` [write \"42\"]",
                "q.yaml:5:53: `questions[2].grader.expected` must be text in quotes, not `no` [write \"no\"]",
                "q.yaml:6:36: a grader `number` needs `expected`, `min` or `max`",
                "q.yaml:7:36: `questions[4].grader.kind` must be one of `exact`, `number`, `contains`, `regex`, `json`, `choice`, not `poem`",
            ],
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(version: 1\nquestions:\n)?[-a-c0-1:{}\\[\\],'\" \n]{0,60}") {
            let _ = parse_questions("q.yaml", &text);
        }
    }
}

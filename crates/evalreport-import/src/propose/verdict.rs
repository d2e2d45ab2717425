//! Words for outcomes, in several languages.

use crate::domain::ItemStatus;

/// Words of each status. Items that nobody judged were not evaluated.
#[rustfmt::skip]
const STATUS_WORDS: [(ItemStatus, &[&str]); 7] = [
    (
        ItemStatus::Pass,
        &[
            "1", "pass", "passed", "passing", "true", "t", "yes", "y", "ok", "okay", "correct", "right", "success", "succeeded", "successful", "solved", "resolved", "completed", "complete", "finished", "done", "accepted", "ac", "c", "win", "good", "○", "◯", "✓",
            "✔", "✔️", "✅", "☑", "☑️", "🟢", "ja", "j", "richtig", "bestanden", "erfolgreich", "erfolg", "abgeschlossen", "beendet", "fertig", "korrekt", "wahr", "gelöst", "erfüllt", "oui", "vrai", "réussi", "succès", "juste", "sí", "si", "verdadero",
            "correcto", "correcta", "aprobado", "vero", "corretto", "corretta", "superato", "sim", "verdadeiro", "aprovado", "correto", "waar", "juist", "goed", "geslaagd", "tak", "prawda", "zaliczone", "是", "正确", "通过", "对",
            "はい", "正解", "合格", "да", "верно", "правильно", "p", "réussite", "correcte", "godkänd", "godkänt", "rätt", "sant", "godkjent", "godkendt", "bestått", "riktig", "rigtig",
        ],
    ),
    (
        ItemStatus::Fail,
        &[
            "0", "fail", "failed", "failing", "false", "f", "no", "n", "wrong", "incorrect", "failure", "unsolved", "unresolved", "rejected", "wa", "i", "loss", "bad", "✗", "×", "✘", "✕", "❌", "❎", "☒", "🔴", "nein", "falsch", "nicht bestanden",
            "durchgefallen", "fehlgeschlagen", "nicht gelöst", "nicht erfüllt", "ungelöst", "non", "faux", "échec", "échoué", "incorrecto", "incorrecta", "falso", "fallido", "suspenso", "errato", "sbagliato", "fallito", "não", "nao",
            "errado", "incorreto", "reprovado", "nee", "onwaar", "fout", "gezakt", "nie", "fałsz", "niezaliczone", "否", "错误", "失败", "不通过", "错", "いいえ", "不正解", "不合格", "нет", "неверно", "not passed", "not solved", "not resolved", "ko", "echec", "nej", "nei", "underkänd",
            "underkänt", "fel", "falskt", "ikke bestått", "feil",
        ],
    ),
    (ItemStatus::Error, &["error", "errored", "crash", "crashed", "exception", "runtime error", "re", "err", "compile error", "ce", "absturz", "abgestürzt"]),
    (
        ItemStatus::Limit,
        &["timeout", "timed out", "timed_out", "time out", "tle", "limit", "max_tokens", "max_steps", "max_turns", "context_length_exceeded", "budget exceeded", "budget_exceeded", "zeitüberschreitung", "abgebrochen"],
    ),
    (ItemStatus::Infra, &["infra", "infrastructure", "outage", "infra error", "infra_error", "rate limited", "rate_limited", "api_error", "api error"]),
    (ItemStatus::Skipped, &["skip", "skipped", "übersprungen", "omitted", "xfail"]),
    (
        ItemStatus::NotEvaluated,
        &["missing", "none", "unknown", "?", "pending", "not run", "not_run", "not evaluated", "not_evaluated", "unbekannt", "offen", "ausstehend", "unjudged", "no result", "no_result"],
    ),
];

/// Texts that mean an empty cell in any column.
#[rustfmt::skip]
const EMPTY_WORDS: [&str; 20] = [
    "n/a", "na", "nan", "null", "-", "–", "—", "--", "k.a.", "k. a.", "#n/a", "#nv", "n.a.", "n. a.", "n/d", "n.v.t.", "b.d.", "nil", "#div/0!", "(blank)",
];

/// Returns the status of a word.
pub(super) fn parse_status_word(text: &str) -> Option<ItemStatus> {
    let word = text.trim().to_lowercase();
    let word = match word.parse::<f64>() {
        Ok(1.0) => "1",
        Ok(0.0) => "0",
        _ => word.as_str(),
    };
    STATUS_WORDS
        .iter()
        .find(|(_, words)| words.contains(&word))
        .map(|(verdict, _)| *verdict)
}

/// Returns the status of a word with a reason behind it: `FAIL (timeout)`, `passed: 3 of 3 tests`. Only words that mean an outcome in any
/// column have reasons.
pub(super) fn parse_reasoned_status(text: &str) -> Option<ItemStatus> {
    let (word, reason) = text
        .trim()
        .split_once(['(', ':', ';', '—', '–'])
        .or_else(|| text.trim().split_once(" - "))?;
    parse_status_word(word).filter(|_| is_clear_verdict(word) && !reason.trim().is_empty())
}

/// Returns whether the word means an outcome in any column: `bestanden` does, `ja` and `1` need a title.
pub(super) fn is_clear_verdict(text: &str) -> bool {
    const AMBIGUOUS_WORDS: [&str; 10] = [
        "c", "i", "p", "goed", "good", "bad", "win", "loss", "○", "×",
    ];
    !AMBIGUOUS_WORDS.contains(&text.trim().to_lowercase().as_str())
        && !is_flag(text)
        && !is_neutral_ending(text)
        && matches!(
            parse_status_word(text),
            Some(ItemStatus::Pass | ItemStatus::Fail)
        )
}

/// Returns whether the text is a number, or only means yes or no.
pub(super) fn is_flag(text: &str) -> bool {
    const FLAG_WORDS: [&str; 32] = [
        "true", "false", "t", "f", "yes", "no", "y", "n", "ja", "nein", "j", "oui", "non", "sí",
        "si", "sim", "não", "nao", "nee", "tak", "nie", "是", "否", "да", "нет", "wahr", "falsch",
        "vrai", "faux", "nej", "nei", "sant",
    ];
    let word = text.trim().to_lowercase();
    FLAG_WORDS.contains(&word.as_str()) || word.parse::<f64>().is_ok()
}

/// Words for an attempt that ended, with any result.
#[rustfmt::skip]
const NEUTRAL_ENDINGS: [&str; 7] = ["completed", "complete", "finished", "done", "abgeschlossen", "beendet", "fertig"];
/// Words for a good ending of the attempt or of its answer.
#[rustfmt::skip]
const GOOD_ENDINGS: [&str; 9] = ["success", "succeeded", "successful", "ok", "okay", "erfolg", "erfolgreich", "succès", "succes"];

/// Returns whether the word may only mean that an attempt ended.
pub(super) fn is_ending(text: &str) -> bool {
    is_neutral_ending(text) || GOOD_ENDINGS.contains(&text.trim().to_lowercase().as_str())
}

/// Returns whether the word only means that an attempt ended.
pub(super) fn is_neutral_ending(text: &str) -> bool {
    NEUTRAL_ENDINGS.contains(&text.trim().to_lowercase().as_str())
}

/// Returns whether the word compares an answer with another one.
pub(super) fn is_pair_word(text: &str) -> bool {
    ["win", "loss", "won", "lost", "tie", "draw"].contains(&text.trim().to_lowercase().as_str())
}

pub(super) fn is_empty_word(text: &str) -> bool {
    EMPTY_WORDS.contains(&text.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_several_languages() {
        for (word, expected) in [
            ("Passed", Some(ItemStatus::Pass)),
            ("NEIN", Some(ItemStatus::Fail)),
            ("1.0", Some(ItemStatus::Pass)),
            ("✗", Some(ItemStatus::Fail)),
            ("timeout", Some(ItemStatus::Limit)),
            ("partial", None),
            ("0.5", None),
        ] {
            assert_eq!(parse_status_word(word), expected, "{word}");
        }
        assert!(is_clear_verdict("bestanden") && !is_clear_verdict("ja") && !is_clear_verdict("1"));
        for (text, expected) in [
            ("FAIL (timeout)", Some(ItemStatus::Fail)),
            ("passed: 3 of 3 tests", Some(ItemStatus::Pass)),
            ("failed - no answer", Some(ItemStatus::Fail)),
            ("no: never", None),
            ("FAIL (", None),
            ("1 (of 2)", None),
            ("Paris (France)", None),
            ("pass", None),
        ] {
            assert_eq!(parse_reasoned_status(text), expected, "{text}");
        }
        let twice: Vec<&str> = STATUS_WORDS
            .iter()
            .flat_map(|(_, words)| *words)
            .copied()
            .collect();
        assert_eq!(
            twice
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            twice.len(),
            "a word says one thing"
        );
    }
}

//! Decides whether two model names mean the same model, and whether a name means one at all.

/// Suffix for the current release of a model.
const LATEST_SUFFIX: &str = "latest";

/// The model of all runs that name none: of approaches without a model to choose, and of sources that leave it out.
pub const NO_MODEL: &str = "none";

/// How records say that they name no model.
const NAMELESS_MODELS: [&str; 3] = ["", NO_MODEL, "unknown"];

/// Returns whether `name` is one, and not a word for its absence.
pub fn is_model_name(name: &str) -> bool {
    !NAMELESS_MODELS.contains(&name)
}

/// Returns the name, or the one word for no model that all readers share.
pub fn model_or_none(name: &str) -> &str {
    if is_model_name(name) { name } else { NO_MODEL }
}

/// Returns whether an agent that reports `reported` used the requested model. Services report a dated name for an undated one, and programs
/// the full name for an alias.
///
/// `sonnet` matches `claude-sonnet-4-5-20250929`, and `gpt-4o` matches `gpt-4o-2024-08-06`, but `gpt-4o` does not match `gpt-4o-mini`. An
/// alias is a name without digits. It matches every model that contains it as a word.
pub fn is_same_model(asked: &str, reported: &str) -> bool {
    let (asked, reported) = (name_parts(asked), name_parts(reported));
    if asked == reported {
        return true;
    }
    let has_digit = |parts: &[String]| {
        parts
            .iter()
            .any(|part| part.contains(|letter: char| letter.is_ascii_digit()))
    };
    !asked.is_empty()
        && !has_digit(&asked)
        && reported.windows(asked.len()).any(|window| *window == asked)
}

/// Returns whether someone who writes `asked` may mean the model that a run calls `name`: its own name, or an alias or undated name of it. A
/// dated name means only itself. The words for no model all mean the same.
pub fn may_mean(asked: &str, name: &str) -> bool {
    if !is_model_name(asked) {
        return !is_model_name(name);
    }
    asked == name || date_length(&name_words(asked)) == 0 && is_same_model(asked, name)
}

/// Returns the words of a name in lower case, without provider (`anthropic/…`), context size (`…[1m]`) and date.
fn name_parts(name: &str) -> Vec<String> {
    let mut parts = name_words(name);
    let dated = date_length(&parts);
    parts.truncate(parts.len() - dated);
    parts
}

fn name_words(name: &str) -> Vec<String> {
    let name = name.trim().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.split('[').next().unwrap_or_default();
    let mut parts: Vec<String> = name
        .split(['-', '_', '@', ':', ' '])
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    if parts.last().is_some_and(|last| last == LATEST_SUFFIX) {
        parts.pop();
    }
    parts
}

/// Returns how many words at the end are a date: `20250929` or `2024-08-06`.
fn date_length(parts: &[String]) -> usize {
    let is_number = |part: &String, digits: usize| {
        part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    match parts {
        // A name must have more words than its date.
        [_, .., year, month, day]
            if is_number(year, 4) && is_number(month, 2) && is_number(day, 2) =>
        {
            3
        }
        [_, .., date] if is_number(date, 8) && date.starts_with("20") => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_model() {
        for (asked, reported) in [
            ("sonnet", "claude-sonnet-4-5-20250929"),
            ("Sonnet", "claude-3-5-sonnet-20241022"),
            ("sonnet[1m]", "claude-sonnet-4-5-20250929"),
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("gpt-4o", "openai/gpt-4o"),
            ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
            ("anthropic/claude-sonnet-4", "claude-sonnet-4@20250514"),
            ("gemini-2.5-pro", "models/gemini-2.5-pro"),
            ("my model", "my-model"),
            ("", ""),
        ] {
            assert!(is_same_model(asked, reported), "{asked}: {reported}");
        }
    }

    #[test]
    fn a_dated_name_means_only_itself() {
        let dated = "claude-sonnet-4-5-20250929";
        for asked in [
            "sonnet",
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-latest",
            dated,
        ] {
            assert!(may_mean(asked, dated), "{asked}");
        }
        for asked in [
            "opus",
            "claude-sonnet-4",
            "claude-sonnet-4-5-20251101",
            "anthropic/claude-sonnet-4-5-20250929",
            "",
        ] {
            assert!(!may_mean(asked, dated), "{asked}");
        }
        assert!(!may_mean(dated, "claude-sonnet-4-5") && may_mean("", ""));
        assert!(!may_mean("unknown", "unknown (report.xml)") && may_mean("unknown", "unknown"));
    }

    #[test]
    fn may_mean_takes_all_words_for_no_model_as_one() {
        for asked in NAMELESS_MODELS {
            for name in NAMELESS_MODELS {
                assert!(may_mean(asked, name), "{asked}: {name}");
            }
            assert!(!may_mean(asked, "sonnet") && !may_mean("sonnet", asked));
        }
    }

    #[test]
    fn names_of_two_models() {
        for (asked, reported) in [
            ("opus", "claude-sonnet-4-5-20250929"),
            ("claude-sonnet-4", "claude-sonnet-4-5-20250929"),
            ("gpt-4o", "gpt-4o-mini-2024-07-18"),
            ("gpt-5", "gpt-5-mini"),
            ("gpt-4o-2024-05-13x", "gpt-4o-2024-08-06"),
            ("son", "claude-sonnet-4-5-20250929"),
            ("", "gpt-5"),
            ("gpt-5", ""),
        ] {
            assert!(!is_same_model(asked, reported), "{asked}: {reported}");
        }
    }
}

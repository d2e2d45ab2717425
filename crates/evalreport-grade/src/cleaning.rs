//! Decoration of answers: Markdown and LaTeX that say nothing about the value.

use crate::visible::FenceMark;

/// Longest argument of `\frac` that is looked at.
const MAX_FRACTION_ARGUMENT: usize = 100;

/// How many quotes or parentheses around an answer are dropped.
const MAX_ENCLOSING: usize = 4;

/// Commands whose argument is the text.
const WRAPPERS: [&str; 22] = [
    "text",
    "textbf",
    "textit",
    "textrm",
    "textsf",
    "texttt",
    "mathrm",
    "mathbf",
    "mathit",
    "mathsf",
    "mathtt",
    "mathbb",
    "operatorname",
    "mbox",
    "emph",
    "bm",
    "boldsymbol",
    "underline",
    "boxed",
    "fbox",
    "mathtext",
    "textnormal",
];

/// Commands that stand for a text, and those without effect, which stand for none.
const SYMBOLS: [(&str, &str); 44] = [
    ("times", "\u{d7}"),
    ("cdot", "\u{b7}"),
    ("div", "\u{f7}"),
    ("pm", "\u{b1}"),
    ("mp", "\u{2213}"),
    ("infty", "\u{221e}"),
    ("leq", "\u{2264}"),
    ("le", "\u{2264}"),
    ("leqslant", "\u{2264}"),
    ("geq", "\u{2265}"),
    ("ge", "\u{2265}"),
    ("geqslant", "\u{2265}"),
    ("lt", "<"),
    ("gt", ">"),
    ("approx", "\u{2248}"),
    ("simeq", "\u{2248}"),
    ("sim", "~"),
    ("neq", "\u{2260}"),
    ("ne", "\u{2260}"),
    ("sqrt", "\u{221a}"),
    ("circ", "\u{b0}"),
    ("degree", "\u{b0}"),
    ("left", ""),
    ("right", ""),
    ("displaystyle", ""),
    ("big", ""),
    ("Big", ""),
    ("limits", ""),
    ("quad", " "),
    ("qquad", " "),
    ("to", "\u{2192}"),
    ("rightarrow", "\u{2192}"),
    ("Rightarrow", "\u{2192}"),
    ("implies", "\u{2192}"),
    ("euro", "\u{20ac}"),
    ("pounds", "\u{a3}"),
    ("textdollar", "$"),
    ("mu", "\u{b5}"),
    ("Omega", "\u{3a9}"),
    ("pi", "\u{3c0}"),
    ("ldots", "\u{2026}"),
    ("dots", "\u{2026}"),
    ("bigg", ""),
    ("percent", "%"),
];

/// Returns a whole answer without decoration: that of [`clean_text`], one full stop at the end, and quotes or parentheses around it.
pub(crate) fn clean_answer(text: &str) -> String {
    let cleaned = clean_text(text);
    let mut rest = drop_full_stop(cleaned.trim());
    for _ in 0..MAX_ENCLOSING {
        rest = drop_enclosing(rest);
    }
    if rest.len() < cleaned.trim().len() && !cleaned.trim().ends_with('.') {
        rest = drop_full_stop(rest);
    }
    rest.trim().to_owned()
}

fn drop_full_stop(text: &str) -> &str {
    match text.strip_suffix(['.', '\u{3002}']) {
        Some(rest) if !rest.ends_with('.') => rest.trim_end(),
        _ => text,
    }
}

/// Drops a pair of quotes or parentheses around the whole text.
fn drop_enclosing(text: &str) -> &str {
    const PAIRS: [(char, char); 9] = [
        ('"', '"'),
        ('\'', '\''),
        ('\u{201c}', '\u{201d}'),
        ('\u{2018}', '\u{2019}'),
        ('\u{ab}', '\u{bb}'),
        ('\u{201e}', '\u{201c}'),
        ('(', ')'),
        ('\u{300c}', '\u{300d}'),
        ('\u{ff08}', '\u{ff09}'),
    ];
    for (open, close) in PAIRS {
        let Some(inner) = text
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
        else {
            continue;
        };
        let mut depth = 0_i64;
        let encloses = inner.chars().all(|character| {
            if open == close {
                return character != open;
            }
            depth += i64::from(character == open) - i64::from(character == close);
            depth >= 0
        });
        if encloses {
            return inner.trim();
        }
    }
    text
}

/// Returns the text without Markdown's emphasis, headings, bullets, quotes, back-ticks and fences, and without LaTeX's delimiters and spaces; LaTeX's
/// symbols and fractions become characters. Lines stay lines.
pub(crate) fn clean_text(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for line in text.split('\n') {
        if FenceMark::of_line(line).is_some() || matches!(line.trim(), "$$" | "\\[" | "\\]") {
            whole.push('\n');
            continue;
        }
        whole.push_str(&drop_dollars(drop_line_marks(line)));
        whole.push('\n');
    }
    whole.pop();
    let plain = drop_emphasis(&whole);
    if plain.contains(['\\', '{', '}']) {
        clean_latex(&plain)
    } else {
        plain
    }
}

/// Drops bullets, headings and quotes at the start of a line.
fn drop_line_marks(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let inner = if let Some(quoted) = rest.strip_prefix('>') {
            // `>5` is a bound; a quote has a space.
            if quoted.starts_with([' ', '>']) || quoted.is_empty() {
                quoted.trim_start()
            } else {
                rest
            }
        } else if let Some(item) = rest
            .strip_prefix(['-', '*', '+', '\u{2022}'])
            .filter(|item| item.starts_with([' ', '\t']))
        {
            item.trim_start()
        } else {
            let heading = rest.trim_start_matches('#');
            let level = rest.len() - heading.len();
            if (1..=6).contains(&level) && heading.starts_with([' ', '\t']) {
                heading.trim_start()
            } else {
                rest
            }
        };
        if inner.len() == rest.len() {
            return rest;
        }
        rest = inner;
    }
}

/// Drops the dollars around formulas of one line. Those of amounts stay: the closing one follows no space and precedes no digit.
fn drop_dollars(line: &str) -> String {
    if !line.contains('$') {
        return line.to_owned();
    }
    let characters: Vec<char> = line.chars().collect();
    let at = |index: usize| characters.get(index).copied();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut index = 0;
    while index < characters.len() {
        if characters[index] == '\\' {
            index += 2;
        } else if characters[index] == '$' {
            let length = 1 + usize::from(at(index + 1) == Some('$'));
            runs.push((index, length));
            index += length;
        } else {
            index += 1;
        }
    }
    let mut dropped = vec![false; characters.len()];
    let mut next = 0;
    while next + 1 < runs.len() {
        let ((open, length), (close, close_length)) = (runs[next], runs[next + 1]);
        let opens = length == 2 || at(open + length).is_some_and(|inner| !inner.is_whitespace());
        let closes = length == 2
            || !characters[close - 1].is_whitespace()
                && at(close + close_length).is_none_or(|after| !after.is_numeric());
        if length == close_length && opens && closes && close > open + length {
            dropped[open..open + length].fill(true);
            dropped[close..close + close_length].fill(true);
            next += 2;
        } else {
            next += 1;
        }
    }
    without_dropped(&characters, &dropped)
}

fn without_dropped(characters: &[char], dropped: &[bool]) -> String {
    characters
        .iter()
        .zip(dropped)
        .filter(|(_, is_dropped)| !**is_dropped)
        .map(|(character, _)| *character)
        .collect()
}

/// Drops pairs of `*` and `_` that emphasise, and back-ticks.
pub(crate) fn drop_emphasis(text: &str) -> String {
    if !text.contains(['*', '_', '`']) {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut dropped = vec![false; characters.len()];
    let mut open: [Vec<(usize, usize)>; 2] = [Vec::new(), Vec::new()];
    let mut index = 0;
    while index < characters.len() {
        let mark = characters[index];
        if mark == '`' {
            dropped[index] = true;
        }
        if mark == '\n' && characters.get(index + 1) == Some(&'\n') {
            open = [Vec::new(), Vec::new()];
        }
        if !matches!(mark, '*' | '_') {
            index += 1;
            continue;
        }
        let start = index;
        while characters.get(index) == Some(&mark) {
            index += 1;
        }
        let length = index - start;
        let before = start.checked_sub(1).map(|before| characters[before]);
        if before == Some('\\') {
            continue;
        }
        let after = characters.get(index).copied();
        let is_inner = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
        let is_digit = |side: Option<char>| side.is_some_and(char::is_numeric);
        let is_literal = if mark == '*' && length >= 2 {
            is_digit(before) && is_digit(after)
        } else {
            is_inner(before) && is_inner(after)
        };
        if is_literal {
            continue;
        }
        let opens =
            after.is_some_and(|after| !after.is_whitespace()) && !(mark == '_' && is_inner(before));
        let closes = before.is_some_and(|before| !before.is_whitespace())
            && !(mark == '_' && is_inner(after));
        let stack = &mut open[usize::from(mark == '_')];
        let alike = stack
            .last()
            .is_some_and(|(_, opened)| *opened == length || length > 1 && *opened > 1);
        if closes && alike {
            if let Some((begin, opened)) = stack.pop() {
                dropped[begin..begin + opened].fill(true);
                dropped[start..index].fill(true);
            }
        } else if opens {
            stack.push((start, length));
        }
    }
    without_dropped(&characters, &dropped)
}

/// What a closing brace ends.
enum Brace {
    /// The argument of a command that is dropped, and its braces with it.
    Wrapper,
    Plain,
}

/// Returns the text with LaTeX's commands as characters. Unknown commands stay.
fn clean_latex(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut whole = String::with_capacity(text.len());
    let mut braces = Vec::new();
    let mut index = 0;
    while index < characters.len() {
        match characters[index] {
            '{' if characters[index..].starts_with(&['{', ',', '}']) => {
                whole.push(',');
                index += 3;
            }
            '{' => {
                braces.push(Brace::Plain);
                whole.push('{');
                index += 1;
            }
            '}' => {
                if !matches!(braces.pop(), Some(Brace::Wrapper)) {
                    whole.push('}');
                }
                index += 1;
            }
            '\\' => index = read_command(&characters, index, &mut whole, &mut braces),
            other => {
                whole.push(other);
                index += 1;
            }
        }
    }
    whole
        .replace("^{\u{b0}}", "\u{b0}")
        .replace("^\u{b0}", "\u{b0}")
}

/// Reads the command at `start`, and returns the place after it.
fn read_command(
    characters: &[char],
    start: usize,
    whole: &mut String,
    braces: &mut Vec<Brace>,
) -> usize {
    let Some(first) = characters.get(start + 1) else {
        whole.push('\\');
        return start + 1;
    };
    if !first.is_ascii_alphabetic() {
        match first {
            ',' => whole.push('\u{2009}'),
            ';' | ':' | ' ' | '\n' => whole.push(' '),
            '!' | '(' | ')' | '[' | ']' => {}
            '\\' => whole.push('\n'),
            '$' | '%' | '&' | '#' | '_' | '{' | '}' => whole.push(*first),
            other => whole.extend(['\\', *other]),
        }
        return start + 2;
    }
    let length = characters[start + 1..]
        .iter()
        .take_while(|letter| letter.is_ascii_alphabetic())
        .count();
    let mut next = start + 1 + length;
    let name: String = characters[start + 1..next].iter().collect();
    if matches!(name.as_str(), "frac" | "dfrac" | "tfrac" | "cfrac")
        && let Some((fraction, after)) = read_fraction(characters, next)
    {
        if whole.ends_with(char::is_numeric) {
            whole.push(' ');
        }
        whole.push_str(&fraction);
        return after;
    }
    if WRAPPERS.contains(&name.as_str()) && characters.get(next) == Some(&'{') {
        braces.push(Brace::Wrapper);
        return next + 1;
    }
    if let Some((_, symbol)) = SYMBOLS.iter().find(|(known, _)| *known == name) {
        whole.push_str(symbol);
        // A space after a command only ends its name, unless it separates words.
        if symbol.is_empty() && characters.get(next) == Some(&' ') {
            next += 1;
        }
        return next;
    }
    whole.push('\\');
    whole.push_str(&name);
    next
}

/// Reads the arguments of `\frac`. Returns `None` if they are not two whole numbers.
fn read_fraction(characters: &[char], start: usize) -> Option<(String, usize)> {
    let (over, next) = read_argument(characters, start)?;
    let (under, next) = read_argument(characters, next)?;
    let is_whole = |text: &str| {
        let digits = text.strip_prefix(['-', '\u{2212}', '+']).unwrap_or(text);
        !digits.is_empty()
            && digits
                .chars()
                .all(|digit| digit.is_ascii_digit() || digit == ',')
    };
    (is_whole(&over) && is_whole(&under)).then(|| (format!("{over}\u{2044}{under}"), next))
}

/// Reads `{…}` without braces in it, or a single digit.
fn read_argument(characters: &[char], start: usize) -> Option<(String, usize)> {
    let first = *characters.get(start)?;
    if first.is_ascii_digit() {
        return Some((first.to_string(), start + 1));
    }
    if first != '{' {
        return None;
    }
    let length = characters[start + 1..]
        .iter()
        .take(MAX_FRACTION_ARGUMENT)
        .position(|character| matches!(character, '{' | '}'))?;
    let end = start + 1 + length;
    (characters[end] == '}').then(|| {
        let inner: String = characters[start + 1..end].iter().collect();
        (inner.trim().to_owned(), end + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean_answer(text), expected, "{text:?}");
    }

    #[test]
    fn markdown_is_decoration() {
        for text in [
            "**Paris.**",
            "*Paris*",
            "__Paris__",
            "`Paris`",
            "# Paris",
            "- Paris",
            "> Paris",
            "\"Paris\"",
            "\u{201c}Paris.\u{201d}",
            "(Paris)",
            "***Paris***",
            "```\nParis\n```",
            "\"Paris\".",
            "((Paris))",
            "### **Paris**",
        ] {
            check(text, "Paris");
        }
        check("snake_case_name", "snake_case_name");
        check("2*3*4", "2*3*4");
        check("2**10", "2**10");
        check("**kwargs", "**kwargs");
        check("f(a) + f(b)", "f(a) + f(b)");
        check("(a) and (b)", "(a) and (b)");
        check("wait...", "wait...");
        check("-5", "-5");
        check(">5", ">5");
    }

    #[test]
    fn latex_is_decoration() {
        check("$B$", "B");
        check("$$\n42\n$$", "42");
        check("\\(42\\)", "42");
        check("\\[42\\]", "42");
        check("$\\text{Paris}$", "Paris");
        check("\\mathrm{km}", "km");
        check("10\\,000", "10\u{2009}000");
        check("10{,}000", "10,000");
        check("\\$460", "$460");
        check("25\\%", "25%");
        check("90^\\circ", "90\u{b0}");
        check("\\frac{3}{4}", "3\u{2044}4");
        check("2\\dfrac34", "2 3\u{2044}4");
        check("\\frac{1}{x}", "\\frac{1}{x}");
        check("\\alpha", "\\alpha");
        check("\\boxed{\\text{B}}", "B");
    }

    #[test]
    fn dollars_of_amounts_stay() {
        check("$1,234.50", "$1,234.50");
        check("$5 and $6", "$5 and $6");
        check("$5-$6", "$5-$6");
        check("$\\$20$", "$20");
        check("it is $x$ or $y$", "it is x or y");
    }

    #[test]
    fn a_megabyte_of_marks_is_read_in_linear_time() {
        for part in ["**a ", "$a ", "\\frac{", "\\text{", "_a ", "(", "\\", "{"] {
            let text = part.repeat(1_000_000 / part.len());
            let started = std::time::Instant::now();
            let _ = clean_answer(&text);
            assert!(started.elapsed().as_secs() < 5, "{part:?}");
        }
    }
}

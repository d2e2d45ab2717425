//! Numbers in a text, each with its readings. What is arithmetic, a date, a time, a version or a name has none.

use super::cardinal_words::scale_of;
use super::digits::{NumberMark, digit_value, read_digits, superscript, vulgar_fraction};
use super::rational::{MAX_EXPONENT, Rational};
use super::units::{FoundUnit, UnitDemand, is_currency_code, is_currency_sign};

/// A number or infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Magnitude {
    Finite(Rational),
    Infinite { is_negative: bool },
}

impl Magnitude {
    fn negated(self) -> Self {
        match self {
            Self::Finite(number) => Self::Finite(number.negated()),
            Self::Infinite { is_negative } => Self::Infinite {
                is_negative: !is_negative,
            },
        }
    }
}

/// A value of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScannedValue {
    /// What it can mean; at least one.
    pub(crate) readings: Vec<Magnitude>,
    pub(crate) unit: Option<FoundUnit>,
    /// Whether it is only a bound, as in "at least 18".
    pub(crate) is_bound: bool,
}

#[derive(Clone, Debug)]
enum Token {
    Value(ScannedValue),
    /// Something with digits that is no value.
    Opaque,
    Word(String),
    /// A sign of arithmetic.
    Operator,
    /// A dash between two numbers: a range if they ascend. Whether it is an en dash without spaces, which is always one.
    Dash {
        is_sure: bool,
    },
    Other,
}

/// Two words before a number that make it a bound.
const BOUND_WORDS: [&str; 26] = [
    "at least",
    "at most",
    "more than",
    "less than",
    "fewer than",
    "greater than",
    "larger than",
    "smaller than",
    "higher than",
    "lower than",
    "bigger than",
    "longer than",
    "shorter than",
    "older than",
    "younger than",
    "up to",
    "minimum of",
    "maximum of",
    "as much",
    "not under",
    "not over",
    "as many",
    "no more",
    "no less",
    "less or",
    "more or",
];
/// Single words that do.
const BOUND_WORD: [&str; 9] = [
    "over",
    "under",
    "above",
    "below",
    "exceeds",
    "exceeding",
    "beyond",
    "least",
    "most",
];
/// Words after a number that do.
const BOUND_ENDS: [&str; 14] = [
    "or more",
    "or less",
    "or fewer",
    "or higher",
    "or lower",
    "or above",
    "or below",
    "or greater",
    "or larger",
    "and above",
    "and up",
    "and over",
    "at least",
    "at most",
];
/// Words between a bound and its number.
const SOFT_WORDS: [&str; 8] = [
    "about",
    "approximately",
    "roughly",
    "around",
    "ca",
    "circa",
    "the",
    "as",
];

/// Returns the values of the text, in order. `text` is without Markdown and LaTeX.
pub(crate) fn scan_values(
    text: &str,
    decimal: NumberMark,
    units: &UnitDemand,
) -> Vec<ScannedValue> {
    let has_number =
        text.contains(|character: char| character.is_numeric() || character == '\u{221e}');
    if !has_number && !text.to_lowercase().contains("infinity") {
        return Vec::new();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut scanner = Scanner {
        closing: match_parentheses(&characters),
        characters: &characters,
        decimal,
        units,
        tokens: Vec::new(),
        has_value: false,
        pending: Pending::default(),
    };
    let mut at = 0;
    while at < characters.len() {
        at = scanner.step(at).max(at + 1);
    }
    keep_values(scanner.tokens)
}

/// Returns for each opening parenthesis or bracket the place of its closing one.
fn match_parentheses(characters: &[char]) -> Vec<Option<usize>> {
    let mut closing = vec![None; characters.len()];
    let mut open = Vec::new();
    for (index, character) in characters.iter().enumerate() {
        match character {
            '(' | '[' => open.push(index),
            ')' | ']' => {
                if let Some(start) = open.pop() {
                    closing[start] = Some(index);
                }
            }
            _ => {}
        }
    }
    closing
}

/// Leaves out operands of arithmetic, and gives both ends of a range its unit.
fn keep_values(tokens: Vec<Token>) -> Vec<ScannedValue> {
    let mut tokens = tokens;
    let mut dropped = vec![false; tokens.len()];
    let smallest = |token: &Token| match token {
        Token::Value(value) => match value.readings.first() {
            Some(Magnitude::Finite(number)) => Some(number.clone()),
            Some(Magnitude::Infinite { .. }) | None => None,
        },
        _ => None,
    };
    for index in 1..tokens.len().saturating_sub(1) {
        let is_operand = |token: &Token| matches!(token, Token::Value(_) | Token::Opaque);
        let (left, right) = (&tokens[index - 1], &tokens[index + 1]);
        if !is_operand(left) || !is_operand(right) {
            continue;
        }
        let is_arithmetic = match &tokens[index] {
            Token::Operator => true,
            Token::Word(word) => matches!(word.as_str(), "x" | "mod"),
            Token::Dash { is_sure } => {
                let ascends = matches!((smallest(left), smallest(right)), (Some(left), Some(right)) if left < right);
                !(*is_sure || ascends)
            }
            Token::Value(_) | Token::Opaque | Token::Other => false,
        };
        if is_arithmetic {
            dropped[index - 1] = true;
            dropped[index + 1] = true;
            continue;
        }
        let joins = match &tokens[index] {
            Token::Dash { .. } => true,
            Token::Word(word) => matches!(word.as_str(), "to" | "and" | "or" | "through"),
            _ => false,
        };
        let unit = match right {
            Token::Value(value) if joins => value.unit.clone(),
            _ => None,
        };
        if let (Token::Value(value), Some(unit)) = (&mut tokens[index - 1], unit) {
            value.unit.get_or_insert(unit);
        }
    }
    tokens
        .into_iter()
        .zip(dropped)
        .filter_map(|(token, is_dropped)| match token {
            Token::Value(value) if !is_dropped => Some(value),
            _ => None,
        })
        .collect()
}

/// What stands before a number and belongs to it.
#[derive(Default)]
struct Pending {
    is_negative: bool,
    is_plus_minus: bool,
    is_bound: bool,
    unit: Option<FoundUnit>,
}

struct Scanner<'a> {
    characters: &'a [char],
    /// The closing parenthesis of each opening one.
    closing: Vec<Option<usize>>,
    decimal: NumberMark,
    units: &'a UnitDemand,
    tokens: Vec<Token>,
    has_value: bool,
    pending: Pending,
}

impl Scanner<'_> {
    fn at(&self, index: usize) -> Option<char> {
        self.characters.get(index).copied()
    }

    fn is_digit(&self, index: usize) -> bool {
        self.at(index)
            .is_some_and(|digit| digit_value(digit).is_some())
    }

    /// Says whether a number begins at the place.
    fn begins_number(&self, index: usize) -> bool {
        match self.at(index) {
            Some('.') => {
                self.is_digit(index + 1)
                    && !index
                        .checked_sub(1)
                        .is_some_and(|before| self.is_digit(before))
            }
            Some('\u{221e}') => true,
            Some(character) => {
                digit_value(character).is_some() || vulgar_fraction(character).is_some()
            }
            None => false,
        }
    }

    fn skip_spaces(&self, index: usize) -> usize {
        let spaces = self.characters[index.min(self.characters.len())..]
            .iter()
            .take_while(|space| space.is_whitespace() && **space != '\n')
            .count();
        index + spaces
    }

    fn ends_with_value(&self) -> bool {
        matches!(self.tokens.last(), Some(Token::Value(_) | Token::Opaque))
    }

    fn push(&mut self, token: Token) {
        self.pending = Pending::default();
        self.has_value |= matches!(token, Token::Value(_));
        self.tokens.push(token);
    }

    /// Reads what is at the place, and returns the place after it.
    fn step(&mut self, index: usize) -> usize {
        if self.begins_number(index) {
            return self.read_value(index);
        }
        let Some(character) = self.at(index) else {
            return index + 1;
        };
        match character {
            _ if character.is_whitespace() => {
                if character == '\n' {
                    self.push(Token::Other);
                }
                index + 1
            }
            '\\' => {
                self.push(Token::Opaque);
                let mut end = self.end_of_word(index + 1);
                while self.at(end) == Some('{') {
                    end = self.end_of_script(end);
                }
                end
            }
            '_' => {
                self.push(Token::Other);
                self.end_of_script(index + 1)
            }
            _ if character.is_alphabetic() => self.read_word(index),
            _ if is_currency_sign(character) => {
                self.pending.unit = Some(self.units.find_prefix(&character.to_string()));
                index + 1
            }
            '\u{b1}' | '\u{2213}' => self.read_plus_minus(index + 1),
            '+' if self.at(index + 1) == Some('/')
                && matches!(self.at(index + 2), Some('-' | '\u{2212}')) =>
            {
                self.read_plus_minus(index + 3)
            }
            '+' if matches!(self.at(index + 1), Some('-' | '\u{2212}')) => {
                self.read_plus_minus(index + 2)
            }
            '+' | '-' | '\u{2212}' | '\u{2013}' | '\u{ff0b}' | '\u{ff0d}' | '\u{fe63}'
            | '\u{2010}' | '\u{2011}' => self.read_sign(index, character),
            '\u{d7}' | '\u{f7}' | '*' | '\u{b7}' | '\u{22c5}' | '\u{2219}' | '^' => {
                self.push(Token::Operator);
                index + 1
            }
            '\u{221a}' => {
                // A root is no value, and neither is what it is of.
                self.push(Token::Opaque);
                self.push(Token::Operator);
                index + 1
            }
            '/' => {
                let is_quotient =
                    self.ends_with_value() && self.begins_number(self.skip_spaces(index + 1));
                self.push(if is_quotient {
                    Token::Operator
                } else {
                    Token::Other
                });
                index + 1
            }
            '<' | '>' | '\u{2264}' | '\u{2265}' | '\u{2266}' | '\u{2267}' => {
                self.read_comparison(index)
            }
            '(' | '[' if self.has_value => self.skip_remark(index),
            _ => {
                self.push(Token::Other);
                index + 1
            }
        }
    }

    /// Skips a remark after a value. A factor in parentheses is arithmetic.
    fn skip_remark(&mut self, index: usize) -> usize {
        let is_factor = index
            .checked_sub(1)
            .is_some_and(|before| self.is_digit(before))
            && self.is_digit(index + 1);
        if is_factor && let Some(last) = self.tokens.last_mut() {
            *last = Token::Opaque;
        }
        match self.closing[index] {
            Some(end) => end + 1,
            None => {
                self.push(Token::Other);
                index + 1
            }
        }
    }

    fn read_comparison(&mut self, index: usize) -> usize {
        let before = index.checked_sub(1).and_then(|before| self.at(before));
        let is_arrow = matches!(before, Some('-' | '='))
            || self.at(index + 1) == Some('-')
                && self.at(index) == Some('<')
                && !self.is_digit(index + 2);
        if is_arrow {
            self.push(Token::Other);
            return index + 1;
        }
        if let Some(Token::Value(value)) = self.tokens.last_mut() {
            value.is_bound = true;
        }
        self.push(Token::Other);
        self.pending.is_bound = true;
        index + 1 + usize::from(self.at(index + 1) == Some('='))
    }

    /// Reads `±`: before a first number it gives two readings; after a number it begins an uncertainty.
    fn read_plus_minus(&mut self, after: usize) -> usize {
        let next = self.skip_spaces(after);
        if !matches!(self.tokens.last(), Some(Token::Value(_))) {
            self.pending.is_plus_minus = true;
            return after;
        }
        if !self.begins_number(next) {
            return after;
        }
        let before = self.tokens.len();
        let end = self.read_value(next);
        let unit = match self.tokens.get(before) {
            Some(Token::Value(uncertainty)) => uncertainty.unit.clone(),
            _ => None,
        };
        self.tokens.truncate(before);
        if let (Some(Token::Value(value)), Some(unit)) = (self.tokens.last_mut(), unit) {
            value.unit.get_or_insert(unit);
        }
        end
    }

    fn read_sign(&mut self, index: usize, sign: char) -> usize {
        let is_hyphen = matches!(sign, '-' | '\u{2013}' | '\u{2010}' | '\u{2011}');
        let before = index.checked_sub(1).and_then(|before| self.at(before));
        let next = self.at(index + 1);
        let precedes_number = self.begins_number(index + 1)
            || next.is_some_and(is_currency_sign) && self.begins_number(index + 2);
        if precedes_number {
            let is_apart = before.is_none_or(|before| {
                !before.is_alphanumeric()
                    && !matches!(before, ')' | ']' | '%' | '\u{b0}')
                    && !is_currency_sign(before)
            });
            let follows_currency = before.is_some_and(is_currency_sign) && !self.ends_with_value();
            match (is_apart || follows_currency, self.ends_with_value()) {
                (true, false) => {
                    self.pending.is_negative = !matches!(sign, '+' | '\u{ff0b}');
                    return index + 1;
                }
                (false, true) if is_hyphen => self.push(Token::Dash {
                    is_sure: sign == '\u{2013}',
                }),
                (_, true) => self.push(Token::Operator),
                (false, false) => self.push(Token::Other),
            }
            return index + 1;
        }
        // In "x = - 7" the sign is apart; after a word it is a dash.
        let is_apart_sign = matches!(sign, '-' | '\u{2212}' | '\u{ff0d}' | '\u{fe63}')
            && before != Some('-')
            && matches!(self.tokens.last(), None | Some(Token::Other))
            && self.begins_number(self.skip_spaces(index + 1));
        if is_apart_sign {
            self.pending.is_negative = true;
            return index + 1;
        }
        let is_joined = self.ends_with_value() && self.begins_number(self.skip_spaces(index + 1));
        match (is_joined, is_hyphen) {
            (true, true) => self.push(Token::Dash { is_sure: false }),
            (true, false) => self.push(Token::Operator),
            (false, _) => {
                let is_suffix = sign == '+'
                    && before.is_some_and(|before| !before.is_whitespace())
                    && next.is_none_or(|next| !next.is_alphanumeric());
                if is_suffix && let Some(Token::Value(value)) = self.tokens.last_mut() {
                    value.is_bound = true;
                }
                self.push(Token::Other);
            }
        }
        index + 1
    }

    /// Returns the place after letters, digits and `_`.
    fn end_of_word(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(character) = self.at(at) {
            let joins = matches!(character, '-' | '\'' | '\u{2019}' | '\u{2011}')
                && self.at(at + 1).is_some_and(char::is_alphanumeric);
            if !(character.is_alphanumeric() || character == '_' || joins) {
                break;
            }
            at += 1;
        }
        at
    }

    /// Returns the place after the index or exponent at `start`: a sign and letters or digits, or a group in braces or parentheses.
    fn end_of_script(&self, start: usize) -> usize {
        let close = match self.at(start) {
            Some('{') => '}',
            Some('(') => ')',
            Some('-' | '+' | '\u{2212}') => return self.end_of_word(start + 1),
            _ => return self.end_of_word(start),
        };
        let length = self.characters[start..]
            .iter()
            .take(64)
            .position(|character| *character == close);
        length.map_or(start + 1, |length| start + length + 1)
    }

    fn read_word(&mut self, index: usize) -> usize {
        let letters = self.characters[index..]
            .iter()
            .take_while(|letter| letter.is_alphabetic())
            .count();
        let code: String = self.characters[index..index + letters].iter().collect();
        let after = index + letters;
        if is_currency_code(&code) {
            let sign = self.at(after).filter(|sign| is_currency_sign(*sign));
            if let Some(sign) = sign {
                self.pending.unit = Some(self.units.find_prefix(&format!("{code}{sign}")));
                return after + 1;
            }
            let next = self.skip_spaces(after);
            let amount = next + usize::from(matches!(self.at(next), Some('-' | '\u{2212}')));
            if code.len() == 3 && self.begins_number(amount) {
                self.pending.unit = Some(self.units.find_prefix(&code));
                return next;
            }
        }
        let end = self.end_of_word(index);
        let word: String = self.characters[index..end]
            .iter()
            .collect::<String>()
            .to_lowercase();
        let next = self.skip_spaces(end);
        let precedes_number = self.begins_number(next)
            || self.characters[next..].starts_with(&['i', 'n', 'f', 'i', 'n', 'i', 't', 'y']);
        match word.as_str() {
            "infinity" => {
                let is_negative = self.pending.is_negative;
                self.push(Token::Value(ScannedValue {
                    readings: vec![Magnitude::Infinite { is_negative }],
                    unit: None,
                    is_bound: false,
                }));
            }
            "minus" | "negative" if precedes_number && !self.ends_with_value() => {
                self.pending.is_negative = true;
            }
            "plus" | "minus" | "times" | "divided" | "multiplied" if self.ends_with_value() => {
                self.push(Token::Operator);
            }
            "by" if matches!(self.tokens.last(), Some(Token::Operator)) => {}
            "dozen" | "dozens" | "hundred" | "hundreds" | "half" | "halves" | "quarter"
            | "quarters" | "third" | "thirds" => self.cancel_value(),
            _ => self.push(Token::Word(word)),
        }
        end
    }

    /// Makes the number before "dozen" or "and a half" no value: it would be a wrong one.
    fn cancel_value(&mut self) {
        let between = self
            .tokens
            .iter()
            .rev()
            .take_while(|token| matches!(token, Token::Word(word) if matches!(word.as_str(), "and" | "a" | "an" | "one")))
            .count();
        if between <= 2
            && let Some(place) = self.tokens.len().checked_sub(between + 1)
            && let Token::Value(_) = self.tokens[place]
        {
            self.tokens[place] = Token::Opaque;
        }
        self.push(Token::Opaque);
    }

    /// Reads the number at the place.
    fn read_value(&mut self, index: usize) -> usize {
        let (number, end) = match self.at(index) {
            Some('\u{221e}') => (
                Some(vec![Magnitude::Infinite { is_negative: false }]),
                index + 1,
            ),
            Some(character) if vulgar_fraction(character).is_some() => {
                let number = vulgar_fraction(character).map(Magnitude::Finite);
                (number.map(|number| vec![number]), index + 1)
            }
            _ => {
                let (numbers, end) = self.read_number(index);
                (
                    numbers.map(|numbers| numbers.into_iter().map(Magnitude::Finite).collect()),
                    end,
                )
            }
        };
        let follows = self.at(self.skip_spaces(end));
        let is_factor = matches!(follows, Some('\u{3c0}' | '\u{221a}' | '\\'));
        let Some(mut readings) = number.filter(|readings| !readings.is_empty() && !is_factor)
        else {
            self.push(Token::Opaque);
            return end;
        };
        let Some(end) = self.read_scale(&mut readings, end) else {
            self.push(Token::Opaque);
            return self.end_of_word(end);
        };
        let Pending {
            is_negative,
            is_plus_minus,
            is_bound,
            unit: prefix,
        } = std::mem::take(&mut self.pending);
        if is_negative || is_plus_minus {
            let negated: Vec<Magnitude> =
                readings.iter().cloned().map(Magnitude::negated).collect();
            readings = if is_plus_minus {
                readings.into_iter().chain(negated).collect()
            } else {
                negated
            };
        }
        let (suffix, end) = self.read_unit_after(end);
        let unit = match (prefix, suffix) {
            (Some(FoundUnit::Other) | None, Some(suffix @ FoundUnit::Named(_))) => Some(suffix),
            (prefix, suffix) => prefix.or(suffix),
        };
        let is_bound = is_bound || self.follows_bound() || self.precedes_bound(end);
        self.push(Token::Value(ScannedValue {
            readings,
            unit,
            is_bound,
        }));
        end
    }

    /// Reads digits with what makes one number of them. `None` for shapes that are no numbers, such as dates. Returns the place after it.
    fn read_number(&self, index: usize) -> (Option<Vec<Rational>>, usize) {
        let run = read_digits(self.characters, index, self.decimal);
        let end = run.end;
        if let Some(end) = self.end_of_chain(end) {
            return (None, end);
        }
        let numbers: Vec<Rational> = run
            .readings
            .iter()
            .filter_map(|text| Rational::parse(text))
            .collect();
        let is_ten = run.is_plain
            && numbers
                .first()
                .is_some_and(|number| number.equals_integer(10));
        if let Some((power, end)) = self.read_power(end) {
            // 10^6 is a number; any other power is arithmetic.
            let scaled = power
                .filter(|_| is_ten)
                .map(|power| vec![Rational::from_integer(1.into()).scaled_by_ten(power)]);
            return (scaled, end);
        }
        if self.at(end) == Some('_') {
            return (None, self.end_of_script(end + 1));
        }
        if let Some((exponent, end)) = self.read_exponent(end) {
            let scale = |exponent| {
                numbers
                    .iter()
                    .map(|number| number.clone().scaled_by_ten(exponent))
                    .collect()
            };
            return (exponent.map(scale), end);
        }
        if let Some((fraction, end)) = self.read_fraction(&numbers, run.is_plain, end) {
            return (fraction.map(|fraction| vec![fraction]), end);
        }
        if run.is_plain
            && let Some(whole) = numbers.first()
            && let Some((fraction, end)) = self.read_mixed(end)
        {
            return (Some(vec![whole.plus(&fraction)]), end);
        }
        (Some(numbers), end)
    }

    /// Returns the place after a time, a date or another chain of digits, of which `end` is the end of the first part.
    fn end_of_chain(&self, end: usize) -> Option<usize> {
        let mark = self.at(end)?;
        let is_next = |at: usize| self.at(at) == Some(mark) && self.is_digit(at + 1);
        if !is_next(end) || !matches!(mark, ':' | '-' | '/' | '\u{2013}' | '\u{2011}') {
            return None;
        }
        let (mut at, mut count) = (end, 0);
        while is_next(at) {
            count += 1;
            at += 1;
            while self.is_digit(at) {
                at += 1;
            }
        }
        (mark == ':' || count > 1).then_some(at)
    }

    /// Reads the power at the place: `^6`, `^{23}`, `²³` or `**6`. The power itself is `None` if it is too large or no whole number.
    fn read_power(&self, index: usize) -> Option<(Option<i64>, usize)> {
        let mut text = String::new();
        let mut end = index;
        while let Some(digit) = self.at(end).and_then(superscript) {
            text.push(digit);
            end += 1;
        }
        if end == index {
            let start = match (self.at(index)?, self.at(index + 1)) {
                ('^', _) => index + 1,
                ('*', Some('*')) => index + 2,
                _ => return None,
            };
            end = self.end_of_script(start);
            text = self.characters[start..end]
                .iter()
                .map(|character| {
                    if *character == '\u{2212}' {
                        '-'
                    } else {
                        *character
                    }
                })
                .filter(|character| !matches!(character, '{' | '}' | '(' | ')' | ' '))
                .collect();
        }
        let power = text
            .parse::<i64>()
            .ok()
            .filter(|power| power.abs() <= MAX_EXPONENT);
        Some((power, end))
    }

    /// Reads `e23` or `× 10^23` at the place.
    fn read_exponent(&self, index: usize) -> Option<(Option<i64>, usize)> {
        if matches!(self.at(index), Some('e' | 'E')) {
            let signed = matches!(self.at(index + 1), Some('+' | '-' | '\u{2212}'));
            let start = index + 1 + usize::from(signed);
            let mut end = start;
            while self.is_digit(end) {
                end += 1;
            }
            if end == start
                || self
                    .at(end)
                    .is_some_and(|next| next.is_alphanumeric() || next == '_')
            {
                return None;
            }
            let digits: String = self.characters[start..end].iter().collect();
            let is_negative = signed && self.at(index + 1) != Some('+');
            let exponent = digits
                .parse::<i64>()
                .ok()
                .filter(|exponent| *exponent <= MAX_EXPONENT)
                .map(|exponent| if is_negative { -exponent } else { exponent });
            return Some((exponent, end));
        }
        let sign = self.skip_spaces(index);
        if !matches!(
            self.at(sign)?,
            '\u{d7}' | 'x' | 'X' | '\u{b7}' | '\u{22c5}' | '*' | '\u{2219}'
        ) {
            return None;
        }
        let ten = self.skip_spaces(sign + 1);
        if !self.characters.get(ten..)?.starts_with(&['1', '0']) {
            return None;
        }
        self.read_power(ten + 2)
    }

    /// Reads `/4` after whole numbers. The fraction itself is `None` if it is none of two whole numbers, or a division by zero.
    fn read_fraction(
        &self,
        over: &[Rational],
        is_whole: bool,
        index: usize,
    ) -> Option<(Option<Rational>, usize)> {
        let bar = match self.at(index) {
            Some('/' | '\u{2044}') => index,
            Some(' ') if self.at(index + 1) == Some('/') && self.at(index + 2) == Some(' ') => {
                index + 1
            }
            _ => return None,
        };
        let start = bar + 1 + usize::from(bar > index);
        if !self.is_digit(start) {
            return None;
        }
        let under = read_digits(self.characters, start, self.decimal);
        let number = (is_whole && under.is_plain)
            .then(|| Rational::parse(under.readings.first()?))
            .flatten();
        let fraction = over
            .first()
            .zip(number)
            .and_then(|(over, under)| Rational::quotient(over, &under));
        Some((fraction, under.end))
    }

    /// Reads the fraction of a mixed number: `2 3/4`, `2¾`.
    fn read_mixed(&self, index: usize) -> Option<(Rational, usize)> {
        let start = self.skip_spaces(index);
        if let Some(fraction) = self.at(start).and_then(vulgar_fraction) {
            return Some((fraction, start + 1));
        }
        if start == index || !self.is_digit(start) {
            return None;
        }
        let over = read_digits(self.characters, start, self.decimal);
        let number = Rational::parse(over.readings.first()?).filter(|_| over.is_plain)?;
        let is_tight = matches!(self.at(over.end), Some('/' | '\u{2044}'));
        let (fraction, end) = self
            .read_fraction(&[number], true, over.end)
            .filter(|_| is_tight)?;
        let one = Rational::from_integer(1.into());
        let fraction = fraction.filter(|fraction| *fraction < one)?;
        let is_longer = self.at(end) == Some('/') && self.is_digit(end + 1);
        (!is_longer).then_some((fraction, end))
    }

    /// Applies words such as `million`, and letters such as `k` that may mean a thousand. `None` if letters belong to the digits that are neither
    /// that nor a unit.
    fn read_scale(&self, readings: &mut Vec<Magnitude>, index: usize) -> Option<usize> {
        let scaled = |reading: &Magnitude, power: i64| match reading {
            Magnitude::Finite(number) => Magnitude::Finite(number.clone().scaled_by_ten(power)),
            Magnitude::Infinite { .. } => reading.clone(),
        };
        let mut end = index;
        loop {
            let start = self.skip_spaces(end);
            let after = self.end_of_letters(start);
            let word: String = self.characters[start..after]
                .iter()
                .collect::<String>()
                .to_lowercase();
            let Some(power) = scale_of(word.trim_end_matches('s')) else {
                break;
            };
            for reading in readings.iter_mut() {
                *reading = scaled(reading, power);
            }
            end = after;
        }
        if end > index || !self.at(end).is_some_and(char::is_alphabetic) {
            return Some(end);
        }
        let after = self.end_of_letters(end);
        let word: String = self.characters[end..after].iter().collect();
        let power = match word.as_str() {
            "k" | "K" => Some(3),
            "M" | "mn" | "Mn" => Some(6),
            "B" | "bn" | "Bn" => Some(9),
            _ => None,
        };
        if let Some(power) = power
            && !self.units.has_name(&word)
            && !self.is_digit(after)
        {
            let more: Vec<Magnitude> = readings
                .iter()
                .map(|reading| scaled(reading, power))
                .collect();
            readings.extend(more);
            return Some(after);
        }
        self.units
            .read_unit(self.characters, end, true)
            .map(|_| end)
    }

    fn end_of_letters(&self, start: usize) -> usize {
        start
            + self.characters[start.min(self.characters.len())..]
                .iter()
                .take_while(|letter| letter.is_alphabetic())
                .count()
    }

    fn read_unit_after(&self, end: usize) -> (Option<FoundUnit>, usize) {
        let is_attached = self.at(end).is_some_and(|next| !next.is_whitespace());
        let hyphen = usize::from(
            matches!(self.at(end), Some('-' | '\u{2011}'))
                && self.at(end + 1).is_some_and(char::is_alphabetic),
        );
        let start = if hyphen == 1 {
            end + 1
        } else {
            self.skip_spaces(end)
        };
        match self
            .units
            .read_unit(self.characters, start, is_attached && hyphen == 0)
        {
            // A currency sign with a number after it belongs to that number.
            Some((_, after))
                if self.at(start).is_some_and(is_currency_sign)
                    && start > end
                    && self.begins_number(after) =>
            {
                (None, end)
            }
            Some((unit, after)) => (Some(unit), after),
            None => (None, end),
        }
    }

    /// Says whether the words before make the number a bound.
    fn follows_bound(&self) -> bool {
        let mut words = Vec::new();
        for token in self.tokens.iter().rev().take(6) {
            match token {
                Token::Word(word) if SOFT_WORDS.contains(&word.as_str()) && words.is_empty() => {}
                Token::Word(word) => words.push(word.as_str()),
                _ => break,
            }
        }
        let last = words.first().copied().unwrap_or_default();
        let pair = words.get(1).map(|before| format!("{before} {last}"));
        BOUND_WORD.contains(&last) || pair.is_some_and(|pair| BOUND_WORDS.contains(&pair.as_str()))
    }

    /// Says whether the words after make the number a bound.
    fn precedes_bound(&self, end: usize) -> bool {
        let start = self.skip_spaces(end);
        let rest: String = self.characters[start..]
            .iter()
            .take(12)
            .collect::<String>()
            .to_lowercase();
        BOUND_ENDS.iter().any(|words| {
            rest.strip_prefix(words)
                .is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first reading of each value as text, `?` behind bounds, and the number of readings if there are several.
    fn shown(text: &str) -> Vec<String> {
        scan_values(text, NumberMark::Point, &UnitDemand::None)
            .iter()
            .map(|value| {
                let first = match &value.readings[0] {
                    Magnitude::Infinite { is_negative: false } => "inf".to_owned(),
                    Magnitude::Infinite { is_negative: true } => "-inf".to_owned(),
                    Magnitude::Finite(number) => {
                        let thousandths = number.times(&Rational::from_integer(1000.into()));
                        (-5_000_000..5_000_000_i64)
                            .step_by(125)
                            .chain([1_234, 3_140, 10, 41, 42_195])
                            .find(|integer| thousandths.equals_integer(*integer))
                            .map_or_else(
                                || "large".to_owned(),
                                |found| (found as f64 / 1000.0).to_string(),
                            )
                    }
                };
                let count = value.readings.len();
                let bound = if value.is_bound { "?" } else { "" };
                if count > 1 {
                    format!("{first}{bound}x{count}")
                } else {
                    format!("{first}{bound}")
                }
            })
            .collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(shown(text), expected, "{text:?}");
    }

    #[test]
    fn signs_belong_to_numbers_only_directly_before_them() {
        for text in [
            "-7",
            "\u{2212}7",
            "\u{2013}7",
            "\u{ff0d}7",
            "x = -7",
            "is -7.",
            "minus 7",
            "negative 7",
            "-$7",
            "$-7",
            "(-7)",
            "-7 apples",
        ] {
            check(text, &["-7"]);
        }
        check("x = - 7", &["-7"]);
        check("\u{2212} 7", &["-7"]);
        check("Total - 7", &["7"]);
        check("Total -- 7", &["7"]);
        check("| --- | 7 |", &["7"]);
        check("+7", &["7"]);
        check("(7)", &["7"]);
        check("a-7", &[]);
    }

    #[test]
    fn fractions_and_exponents_are_one_number() {
        check("3/4", &["0.75"]);
        check("3 / 4", &["0.75"]);
        check("2 3/4", &["2.75"]);
        check("2\u{be}", &["2.75"]);
        check("\u{bd}", &["0.5"]);
        check("-2 3\u{2044}4", &["-2.75"]);
        check("3/0", &[]);
        check("1.5/2", &[]);
        check("1.5e3", &["1500"]);
        check("1.5 \u{d7} 10^3", &["1500"]);
        check("1.5 x 10^{3}", &["1500"]);
        check("1.5\u{b7}10\u{b3}", &["1500"]);
        check("10^3", &["1000"]);
        check("5 \u{d7} 10^-1", &["0.5"]);
        check("1e10001", &[]);
        check("3 thousand", &["3000"]);
        check("1.5 Thousand", &["1500"]);
        check("2k", &["2x2"]);
        check("$2M", &["2x2"]);
    }

    #[test]
    fn what_is_no_number_has_no_value() {
        for text in [
            "B12",
            "COVID-19",
            "12:30",
            "2024-03-04",
            "03/04/2024",
            "1.2.3",
            "0x1F",
            "4210_5",
            "4210_{5}",
            "\u{221a}2",
            "2^10",
            "5\u{b2}",
            "2+3",
            "2 + 3",
            "711 - 700",
            "12 \u{d7} 3",
            "3 * 4",
            "3 x 4",
            "6 \u{f7} 2",
            "42nd",
            "3rd",
            "2x",
            "2\u{3c0}",
            "2 \\alpha",
            "3D",
            "555-1234-99",
            "12h30",
            "2(3)",
            "5 plus 3",
            "6 divided by 2",
            "2 dozen",
            "3 and a half",
            "v2",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn several_values_are_several_values() {
        check("7 boxes with 12 pencils", &["7", "12"]);
        check("1, 2", &["1", "2"]);
        check("10\u{2013}12 days", &["10", "12"]);
        check("10-12", &["10", "12"]);
        check("12-10", &[]);
        check("10 to 12", &["10", "12"]);
        check("100 (212 F)", &["100"]);
        check("5 [1]", &["5"]);
        check("5 \u{b1} 1", &["5"]);
        check("5 +/- 1 km", &["5"]);
        check("\u{b1}5", &["5x2"]);
        check("42%", &["42"]);
        check("$1,234.50 total", &["1234.5"]);
        check("42!", &["42"]);
    }

    #[test]
    fn bounds_are_marked() {
        for text in [
            "at least 18",
            "more than 18",
            "< 18",
            "\u{2265}18",
            ">= 18",
            "up to 18",
            "over 18",
            "18 or more",
            "18+",
            "at least about 18",
            "x < 18",
        ] {
            check(text, &["18?"]);
        }
        check("-> 18", &["18"]);
        check("about 18", &["18"]);
        check("~18", &["18"]);
    }

    #[test]
    fn infinity_has_a_sign() {
        check("\u{221e}", &["inf"]);
        check("-\u{221e}", &["-inf"]);
        check("negative infinity", &["-inf"]);
        check("undefined", &[]);
    }

    #[test]
    fn both_ends_of_a_range_have_its_unit() {
        let values = scan_values("10\u{2013}12 miles", NumberMark::Point, &UnitDemand::None);
        assert!(
            values
                .iter()
                .all(|value| value.unit == Some(FoundUnit::Other))
        );
    }

    #[test]
    fn a_megabyte_of_numbers_is_read_in_linear_time() {
        for part in [
            "1",
            "1,",
            "1-",
            "1/",
            "(",
            "1 ",
            "-",
            "1 million ",
            "10^",
            "2_{",
            "1 (",
            "a1",
        ] {
            let text = part.repeat(300_000 / part.len());
            let started = std::time::Instant::now();
            let _ = scan_values(&text, NumberMark::Any, &UnitDemand::None);
            assert!(started.elapsed().as_secs() < 8, "{part:?}");
        }
    }
}

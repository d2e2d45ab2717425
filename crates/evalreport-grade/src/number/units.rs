//! Units of numbers. None is converted unless the grader gives its factor.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::digits::superscript;
use super::rational::Rational;

/// What a grader says about units.
#[derive(Clone, Debug)]
pub(crate) enum UnitDemand {
    /// Nothing: units are ignored, except `%`.
    None,
    /// The names of one unit. A number without unit has it, unless `is_required`.
    Names {
        names: Vec<String>,
        is_required: bool,
    },
    /// Names with factors. `""` stands for a number without unit.
    Factors(Vec<(String, Rational)>),
}

/// A unit beside a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundUnit {
    /// The one of the grader at this place among its names.
    Named(usize),
    Percent,
    /// A known unit that the grader does not name.
    Other,
}

/// Words and abbreviations of units, beside those with prefixes of SI.
const WORDS: &str = "minute minutes min mins second seconds sec secs hour hours hr hrs day days week weeks month months year years yr yrs decade \
    decades century centuries inch inches in foot feet ft yard yards yd yds mile miles mi acre acres ounce ounces oz pound pounds lb lbs stone ton tons \
    tonne tonnes gallon gallons gal pint pints quart quarts cup cups tablespoon tablespoons tbsp teaspoon teaspoons tsp mph kph kmh knot knots psi atm mmhg \
    hectare hectares ha are degree degrees celsius fahrenheit kelvin kelvins radian radians rad dollar dollars cent cents euro euros yen yuan rupee rupees \
    franc francs krona kronor peso pesos ruble rubles won usd eur gbp jpy cny chf inr cad aud nzd sek nok dkk pln brl mxn krw rub try zar calorie calories \
    kcal rpm fps dpi px db fahrenheits angstrom angstroms parsec parsecs lightyear lightyears astronomical";
/// Symbols of SI and beside it that take prefixes.
const SYMBOLS: &str = "m g s A K mol cd Hz N Pa J W C V F \u{3a9} ohm S Wb T H lm lx Bq Gy Sv L l eV bar t B b bit Wh cal Ah bps";
const PREFIXES: &str = "Y Z E P T G M k K h da d c m \u{b5} \u{3bc} u n p f a z y Ki Mi Gi Ti";
const NAMES: &str = "metre meter gram gramme liter litre watt volt amp ampere ohm joule newton pascal hertz byte bit calorie mole farad henry tesla \
    coulomb electronvolt second tonne ton siemens lumen lux becquerel gray sievert";
const PREFIX_NAMES: &str = "kilo mega giga tera milli micro nano pico centi deci hecto deca";
/// Symbols that are words too. They are units only at the end of a sentence part.
const ALSO_WORDS: [&str; 12] = [
    "in", "a", "at", "as", "am", "pm", "are", "A", "As", "At", "won", "try",
];
const CURRENCY_SIGNS: &str =
    "$\u{20ac}\u{a3}\u{a5}\u{20b9}\u{20bd}\u{20a9}\u{a2}\u{20bf}\u{20ba}\u{20ab}\u{20aa}";
const CURRENCY_CODES: &str =
    "USD EUR GBP JPY CNY CHF INR CAD AUD NZD SEK NOK DKK PLN BRL MXN KRW RUB TRY ZAR US C A R S";

static EXACT_CASE: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut known: HashSet<String> = SYMBOLS.split_whitespace().map(str::to_owned).collect();
    for prefix in PREFIXES.split_whitespace() {
        for symbol in SYMBOLS.split_whitespace() {
            known.insert(format!("{prefix}{symbol}"));
        }
    }
    known.insert("h".to_owned());
    known.insert("d".to_owned());
    known
});
static ANY_CASE: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut known: HashSet<String> = WORDS.split_whitespace().map(str::to_owned).collect();
    for prefix in std::iter::once("").chain(PREFIX_NAMES.split_whitespace()) {
        for name in NAMES.split_whitespace() {
            known.insert(format!("{prefix}{name}"));
            known.insert(format!("{prefix}{name}s"));
        }
    }
    known
});

pub(crate) fn is_currency_sign(character: char) -> bool {
    CURRENCY_SIGNS.contains(character)
}

/// Says whether the word stands before amounts: the code of a currency, or the country before its sign.
pub(crate) fn is_currency_code(word: &str) -> bool {
    CURRENCY_CODES.split(' ').any(|code| code == word)
}

impl UnitDemand {
    /// Returns the names, with their places.
    fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        let (names, factors): (&[String], &[(String, Rational)]) = match self {
            Self::None => (&[], &[]),
            Self::Names { names, .. } => (names, &[]),
            Self::Factors(factors) => (&[], factors),
        };
        names
            .iter()
            .map(String::as_str)
            .chain(factors.iter().map(|(name, _)| name.as_str()))
            .enumerate()
            .filter(|(_, name)| !name.is_empty())
    }

    /// Says whether the grader names this unit.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.names().any(|(_, known)| known == name)
    }

    /// Returns the unit that a sign or code before a number stands for.
    pub(crate) fn find_prefix(&self, text: &str) -> FoundUnit {
        self.names()
            .find(|(_, name)| *name == text)
            .map_or(FoundUnit::Other, |(place, _)| FoundUnit::Named(place))
    }

    /// Reads the unit that begins exactly at `start`. Returns it with the place after it.
    pub(crate) fn read_unit(
        &self,
        characters: &[char],
        start: usize,
        is_attached: bool,
    ) -> Option<(FoundUnit, usize)> {
        let mut named: Vec<(usize, usize)> = self
            .names()
            .filter_map(|(place, name)| Some((match_name(characters, start, name)?, place)))
            .collect();
        named.sort_unstable();
        if let Some((end, place)) = named.pop() {
            return Some((FoundUnit::Named(place), end));
        }
        let end = match_known(characters, start, is_attached)?;
        let text: String = characters[start..end].iter().collect();
        let is_percent = matches!(
            text.as_str(),
            "%" | "\u{ff05}" | "percent" | "Percent" | "per cent" | "pct"
        );
        let end = end_of_compound(characters, end);
        if !is_percent {
            return Some((FoundUnit::Other, end));
        }
        let own = self
            .names()
            .find(|(_, name)| matches!(*name, "%" | "percent"));
        let unit = match (own, self) {
            (Some((place, _)), _) => FoundUnit::Named(place),
            (None, Self::None) => FoundUnit::Percent,
            (None, _) => FoundUnit::Other,
        };
        Some((unit, end))
    }
}

/// Returns the place after `name`, if the text has it at `start` as a whole. Longer names may differ in case and in a plural `s`.
fn match_name(characters: &[char], start: usize, name: &str) -> Option<usize> {
    let wanted: Vec<char> = name.chars().map(unit_form).collect();
    let is_word = wanted.len() > 2
        && wanted
            .iter()
            .all(|letter| letter.is_alphabetic() || *letter == ' ');
    let found = characters.get(start..start + wanted.len());
    let equal = found.is_some_and(|found| {
        found.iter().zip(&wanted).all(|(one, other)| {
            unit_form(*one) == *other
                || is_word && wanted.len() > 3 && one.to_lowercase().eq(other.to_lowercase())
                || one.is_whitespace() && other.is_whitespace()
        })
    });
    let mut end = start + wanted.len();
    if !equal {
        // "dollar" for "dollars"
        let singular = name
            .strip_suffix('s')
            .filter(|name| is_word && name.len() > 3)?;
        return match_name(characters, start, singular);
    }
    if is_word && characters.get(end) == Some(&'s') {
        end += 1;
    }
    let is_letter = |character: &char| character.is_alphanumeric() || *character == '_';
    let ends_in_letter = wanted.last().is_some_and(|last| last.is_alphanumeric());
    let continues = characters.get(end).is_some_and(is_letter) && ends_in_letter;
    (!continues && end_of_compound(characters, end) == end).then_some(end)
}

/// Maps the characters that stand for the same unit.
fn unit_form(character: char) -> char {
    match character {
        '\u{b5}' => '\u{3bc}',
        '\u{2126}' => '\u{3a9}',
        '\u{ff05}' => '%',
        other => other,
    }
}

/// Returns the place after a known unit at `start`.
fn match_known(characters: &[char], start: usize, is_attached: bool) -> Option<usize> {
    let first = *characters.get(start)?;
    if is_currency_sign(first)
        || matches!(
            first,
            '%' | '\u{ff05}' | '\u{2030}' | '\u{2103}' | '\u{2109}'
        )
    {
        return Some(start + 1);
    }
    if first == '\u{b0}' {
        let has_scale = matches!(characters.get(start + 1), Some('C' | 'F' | 'K'))
            && !characters
                .get(start + 2)
                .is_some_and(|next| next.is_alphanumeric());
        return Some(start + 1 + usize::from(has_scale));
    }
    let end = end_of_word(characters, start);
    let word: String = characters[start..end].iter().collect();
    let lower = word.to_lowercase();
    let next_word = || {
        let begin = end
            + characters[end..]
                .iter()
                .take_while(|space| **space == ' ')
                .count();
        let after = end_of_word(characters, begin);
        (
            characters[begin..after]
                .iter()
                .collect::<String>()
                .to_lowercase(),
            after,
        )
    };
    match lower.as_str() {
        "percent" | "pct" => return Some(end),
        "per" if next_word().0 == "cent" => return Some(next_word().1),
        "square" | "cubic" | "sq" => {
            let (word, after) = next_word();
            return ANY_CASE.contains(&word).then_some(after);
        }
        "degree" | "degrees" => {
            let (word, after) = next_word();
            let is_scale = matches!(
                word.as_str(),
                "celsius" | "fahrenheit" | "c" | "f" | "kelvin"
            );
            return Some(if is_scale { after } else { end });
        }
        _ => {}
    }
    // Digits after a symbol are no unit: `12h30`.
    if characters
        .get(end)
        .is_some_and(|next| next.is_numeric() && superscript(*next).is_none())
    {
        return None;
    }
    if ALSO_WORDS.contains(&word.as_str()) && !is_attached {
        let rest = characters[end..].iter().find(|next| !next.is_whitespace());
        if rest.is_some_and(|next| next.is_alphanumeric()) {
            return None;
        }
    }
    (EXACT_CASE.contains(&word) || ANY_CASE.contains(&lower)).then_some(end)
}

fn end_of_word(characters: &[char], start: usize) -> usize {
    start
        + characters[start..]
            .iter()
            .take_while(|letter| letter.is_alphabetic() || **letter == '\u{b5}')
            .count()
}

/// Returns the place after powers, quotients and products of units that follow.
fn end_of_compound(characters: &[char], start: usize) -> usize {
    let mut at = start;
    loop {
        let before = at;
        while characters
            .get(at)
            .is_some_and(|mark| superscript(*mark).is_some())
        {
            at += 1;
        }
        if characters.get(at) == Some(&'^') {
            let power = characters[at + 1..]
                .iter()
                .take_while(|mark| {
                    mark.is_ascii_digit() || matches!(mark, '-' | '{' | '}' | '\u{2212}')
                })
                .count();
            at += if power > 0 { power + 1 } else { 0 };
        }
        if matches!(characters.get(at), Some('/' | '\u{b7}' | '\u{22c5}')) {
            let end = end_of_word(characters, at + 1);
            at = if end > at + 1 { end } else { at };
        }
        if characters[at..].starts_with(&[' ', 'p', 'e', 'r', ' ']) {
            let end = end_of_word(characters, at + 5);
            let word: String = characters[at + 5..end].iter().collect();
            if word != "cent" && end > at + 5 {
                at = end;
            }
        }
        if at == before {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> UnitDemand {
        UnitDemand::Names {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            is_required: false,
        }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "the calls read better")]
    fn check(demand: &UnitDemand, text: &str, expected: Option<FoundUnit>) {
        let characters: Vec<char> = text.chars().collect();
        let found = demand
            .read_unit(&characters, 0, false)
            .map(|(unit, _)| unit);
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_unit_is_one_of_the_names_or_a_known_other() {
        let km = names(&["km"]);
        check(&km, "km", Some(FoundUnit::Named(0)));
        check(&km, "km.", Some(FoundUnit::Named(0)));
        check(&km, "km/h", Some(FoundUnit::Other));
        check(&km, "km\u{b2}", Some(FoundUnit::Other));
        check(&km, "km per hour", Some(FoundUnit::Other));
        check(&km, "miles", Some(FoundUnit::Other));
        check(&km, "m", Some(FoundUnit::Other));
        check(&km, "%", Some(FoundUnit::Other));
        check(&km, "apples", None);
        check(&km, "in total", None);
        check(&km, "in.", Some(FoundUnit::Other));
        let speed = names(&["km/h", "kilometres per hour"]);
        check(&speed, "km/h", Some(FoundUnit::Named(0)));
        check(&speed, "Kilometres per hour", Some(FoundUnit::Named(1)));
        let warm = names(&["\u{b0}C", "degrees Celsius"]);
        check(&warm, "degrees Celsius", Some(FoundUnit::Named(1)));
        check(&warm, "\u{b0}F", Some(FoundUnit::Other));
        check(&names(&["dollars"]), "dollar", Some(FoundUnit::Named(0)));
        check(&names(&["mile"]), "miles", Some(FoundUnit::Named(0)));
        check(&names(&["\u{3bc}m"]), "\u{b5}m", Some(FoundUnit::Named(0)));
    }

    #[test]
    fn percent_has_one_meaning_under_several_names() {
        check(&UnitDemand::None, "percent", Some(FoundUnit::Percent));
        check(&UnitDemand::None, "per cent", Some(FoundUnit::Percent));
        check(&names(&["%"]), "percent", Some(FoundUnit::Named(0)));
        check(&names(&["km"]), "per cent", Some(FoundUnit::Other));
    }
}

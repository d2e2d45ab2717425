//! A printed cell: its figure with the digits that were printed, and what is printed beside it.

/// A printed number in units of its last digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrintedFigure {
    pub units: i64,
    pub decimals: u32,
    pub has_percent: bool,
}

/// The numbers of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CellFigures {
    pub main: Option<PrintedFigure>,
    /// Behind a `±`, or alone in brackets.
    pub spread: Option<PrintedFigure>,
    pub ends: Option<(PrintedFigure, PrintedFigure)>,
    /// A part and its whole: `139/225`.
    pub counts: Option<(u64, u64)>,
    pub is_bold: bool,
}

/// More digits than this are of a float, not of a person.
const MAX_DECIMALS: u32 = 6;

impl PrintedFigure {
    pub fn value(self) -> f64 {
        self.units as f64 / self.units_per_one() as f64
    }

    /// Returns the number of units in 1.
    pub fn units_per_one(self) -> u64 {
        10_u64.pow(self.decimals)
    }

    /// Returns half of a unit of the last digit.
    pub fn half_unit(self) -> f64 {
        0.5 / self.units_per_one() as f64
    }

    /// Returns the number with more decimals, all zero. Unchanged if it has as many.
    pub fn with_decimals(self, decimals: u32) -> Self {
        let by = 10_i64.checked_pow(decimals.saturating_sub(self.decimals));
        match by.and_then(|by| self.units.checked_mul(by)) {
            Some(units) if decimals > self.decimals => Self {
                units,
                decimals,
                ..self
            },
            _ => self,
        }
    }

    pub fn whole_number(self) -> Option<u64> {
        let scale = i64::try_from(self.units_per_one()).ok()?;
        u64::try_from(self.units / scale)
            .ok()
            .filter(|_| self.units % scale == 0)
    }
}

/// Reads a cell. Every field is empty if it is not a figure.
pub(super) fn parse_cell(text: &str) -> CellFigures {
    let (text, is_bold) = strip_marks(text);
    let Some((numbers, form)) = scan_numbers(&text) else {
        return CellFigures {
            is_bold,
            ..CellFigures::default()
        };
    };
    let one = |place: usize| numbers.get(place).copied();
    let ends = |low: usize| {
        one(low)
            .zip(one(low + 1))
            .filter(|(low, high)| low.value() <= high.value())
    };
    let counts = |place: usize| {
        let (part, whole) = (one(place)?.whole_number()?, one(place + 1)?.whole_number()?);
        (part <= whole && whole > 0).then_some((part, whole))
    };
    let mut found = CellFigures {
        is_bold,
        ..CellFigures::default()
    };
    match form.as_str() {
        "#" => found.main = one(0),
        "±#" => found.spread = one(0),
        "#±#" | "#(±#)" | "#(#)" | "#+/-#" | "#(+/-#)" | "#+-#" => {
            (found.main, found.spread) = (one(0), one(1));
        }
        "#[#,#]" | "#(#,#)" | "#[#-#]" | "#(#-#)" | "#[#to#]" | "#(#to#)" | "#[#;#]" | "#(#;#)" => {
            (found.main, found.ends) = (one(0), ends(1));
        }
        "[#,#]" | "(#,#)" | "#-#" | "[#-#]" | "(#-#)" | "#to#" | "[#;#]" | "#,#" | "#;#" => {
            found.ends = ends(0);
        }
        "#/#" | "(#/#)" | "#of#" => found.counts = counts(0),
        "#/#(#)" => (found.counts, found.main) = (counts(0), one(2)),
        "#(#/#)" | "#[#/#]" | "#,#/#" | "#(#of#)" => {
            (found.main, found.counts) = (one(0), counts(1));
        }
        _ => {}
    }
    found
}

/// Removes what marks a cell and is no part of its figure. Returns whether the cell is bold.
fn strip_marks(text: &str) -> (String, bool) {
    let text = text.trim();
    let pairs = [
        ("**", "**"),
        ("__", "__"),
        ("<b>", "</b>"),
        ("<strong>", "</strong>"),
        ("\\textbf{", "}"),
    ];
    let is_bold = pairs.iter().any(|(open, close)| {
        text.contains(open) && text.contains(close) && text.len() > open.len() + close.len()
    });
    let mut plain = text.to_owned();
    for mark in [
        "**",
        "__",
        "<b>",
        "</b>",
        "<strong>",
        "</strong>",
        "\\textbf{",
        "\\underline{",
        "<u>",
        "</u>",
        "<sup>",
        "</sup>",
        "}",
        "$",
        "`",
        "\\",
    ] {
        // A dollar is a currency, unless it encloses mathematics.
        if mark == "$" && plain.matches('$').count() != 2 {
            continue;
        }
        plain = plain.replace(mark, "");
    }
    let plain = plain.replace("&plusmn;", "±").replace("pm", "±");
    (
        plain
            .trim_matches(|letter: char| "*↑↓†‡§¹²³🥇🥈🥉🏆✅ \u{a0}".contains(letter))
            .to_owned(),
        is_bold,
    )
}

/// Splits a text into its numbers and its form, in which `#` stands for a number.
fn scan_numbers(text: &str) -> Option<(Vec<PrintedFigure>, String)> {
    const MAX_FIGURE_LENGTH: usize = 60;
    if text.is_empty() || text.len() > MAX_FIGURE_LENGTH {
        return None;
    }
    let letters: Vec<char> = text.chars().collect();
    let is_digit = |place: usize| letters.get(place).is_some_and(char::is_ascii_digit);
    let has_point = text.contains('.');
    let (mut numbers, mut form, mut place) = (Vec::<PrintedFigure>::new(), String::new(), 0);
    while place < letters.len() {
        let letter = letters[place];
        let is_sign = matches!(letter, '-' | '−' | '+') && !form.ends_with('#');
        let starts = is_digit(place)
            || (letter == '.' && is_digit(place + 1))
            || (is_sign
                && (is_digit(place + 1)
                    || letters.get(place + 1) == Some(&'.') && is_digit(place + 2)));
        if !starts {
            match letter {
                '%' => numbers.last_mut()?.has_percent = true,
                ' ' | '\u{a0}' | '\u{202f}' => {}
                '–' | '—' | '−' => form.push('-'),
                other => form.push(other.to_ascii_lowercase()),
            }
            place += 1;
            continue;
        }
        let is_negative = matches!(letter, '-' | '−');
        place += usize::from(is_sign);
        let (mut units, mut decimals, mut seen_point) = (String::new(), 0_u32, false);
        while place < letters.len() {
            let groups =
                |place: usize| (1..=3).all(|next| is_digit(place + next)) && !is_digit(place + 4);
            match letters[place] {
                digit if digit.is_ascii_digit() => {
                    units.push(digit);
                    decimals += u32::from(seen_point);
                }
                '.' if !seen_point && is_digit(place + 1) => seen_point = true,
                '.' if !seen_point && place + 1 == letters.len() => seen_point = true,
                ',' if !seen_point && (1..=3).contains(&units.len()) && groups(place) => {}
                ',' if !seen_point
                    && !has_point
                    && is_digit(place + 1)
                    && form.chars().all(|letter| letter != '[' && letter != '(') =>
                {
                    seen_point = true;
                }
                _ => break,
            }
            place += 1;
        }
        // An exponent is of a float.
        if matches!(letters.get(place), Some('e' | 'E')) {
            return parse_float(text);
        }
        while decimals > MAX_DECIMALS {
            let last = units
                .pop()
                .and_then(|digit| digit.to_digit(10))
                .unwrap_or(0);
            decimals -= 1;
            if decimals == MAX_DECIMALS && last >= 5 {
                units = (units.parse::<i64>().ok()? + 1).to_string();
            }
        }
        let units: i64 = units.parse().ok()?;
        numbers.push(PrintedFigure {
            units: if is_negative { -units } else { units },
            decimals,
            has_percent: false,
        });
        form.push('#');
    }
    (!numbers.is_empty()).then_some((numbers, form))
}

fn parse_float(text: &str) -> Option<(Vec<PrintedFigure>, String)> {
    let value: f64 = text.parse().ok().filter(|value: &f64| value.abs() < 1e9)?;
    let scale = 10_f64.powi(i32::try_from(MAX_DECIMALS).ok()?);
    #[expect(clippy::cast_possible_truncation, reason = "below 1e15")]
    let units = (value * scale).round() as i64;
    Some((
        vec![PrintedFigure {
            units,
            decimals: MAX_DECIMALS,
            has_percent: false,
        }],
        "#".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let found = parse_cell(text);
        let number = |printed: PrintedFigure| {
            format!(
                "{}/{}{}",
                printed.units,
                printed.decimals,
                if printed.has_percent { "%" } else { "" }
            )
        };
        let mut parts = Vec::new();
        parts.extend(found.main.map(number));
        parts.extend(found.spread.map(|spread| format!("± {}", number(spread))));
        parts.extend(
            found
                .ends
                .map(|(low, high)| format!("[{} {}]", number(low), number(high))),
        );
        parts.extend(
            found
                .counts
                .map(|(part, whole)| format!("{part} of {whole}")),
        );
        parts.extend(found.is_bold.then(|| "bold".to_owned()));
        parts.join(" ")
    }

    #[test]
    fn cells_are_read_as_people_print_them() {
        for (text, expected) in [
            ("61.7", "617/1"),
            ("**61.70%**", "6170/2% bold"),
            ("\\textbf{61.7}", "617/1 bold"),
            ("61,7 %", "617/1%"),
            ("1,319", "1319/0"),
            ("-0.5", "-5/1"),
            ("61.7 ± 3.2", "617/1 ± 32/1"),
            ("61.7 (±3.2)", "617/1 ± 32/1"),
            ("61.7 [55.2, 68.0]", "617/1 [552/1 680/1]"),
            ("61.7 (55.2–68.0)", "617/1 [552/1 680/1]"),
            ("[55.2, 68.0]", "[552/1 680/1]"),
            ("139/225", "139 of 225"),
            ("61.8% (139/225)", "618/1% 139 of 225"),
            ("139/225 (61.8%)", "618/1% 139 of 225"),
            ("0.6177777777777778", "617778/6"),
            ("0.99999999", "1000000/6"),
            ("1e-3", "1000/6"),
            ("🥇 61.7", "617/1"),
            ("gpt-4", ""),
            ("2024-09-12", ""),
            ("", ""),
            ("$1.20", ""),
            ("61.7.1", ""),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}

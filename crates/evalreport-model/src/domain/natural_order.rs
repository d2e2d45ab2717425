//! The order of names that hold numbers.

/// A part of a name: numbers come before texts, and by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamePart {
    /// Digits without leading zeros, which order by their number first.
    Number(usize, String),
    Text(String),
}

/// Returns the key by which people order names: `q2` comes before `q10`.
pub fn natural_key(name: &str) -> Vec<NamePart> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest
            .find(|character: char| character.is_ascii_digit() != is_number)
            .unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(if is_number {
            let digits = part.trim_start_matches('0');
            NamePart::Number(digits.len(), digits.to_owned())
        } else {
            NamePart::Text(part.to_owned())
        });
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_key_orders_numbers_in_names_by_value() {
        let mut names = ["q10", "q9", "q", "q007", "a1b12", "a1b3"];
        names.sort_by_key(|name| natural_key(name));
        assert_eq!(names, ["a1b3", "a1b12", "q", "q007", "q9", "q10"]);
    }
}

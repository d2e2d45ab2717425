//! Counts as text.

/// Formats a whole number with grouped thousands: `245,000`.
pub fn format_integer(number: u64) -> String {
    group_digits(&number.to_string())
}

/// Groups the digits of a whole number by thousands.
pub fn group_digits(digits: &str) -> String {
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats a count with its noun: `1 run`, `2 runs`.
pub fn format_count(number: u64, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        format_integer(number),
        if number == 1 { "" } else { "s" }
    )
}

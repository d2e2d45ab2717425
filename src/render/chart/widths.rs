//! Text widths without asking the machine for a font, so that every machine gets equal bytes.

use unicode_width::UnicodeWidthChar;

/// Advance widths of the printable ASCII characters in a Helvetica-like face, in thousandths of the font's size.
#[rustfmt::skip]
const ASCII_WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
    556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Average width of a letter beyond ASCII. A letter of a wide script has [`WIDE_WIDTH`].
const OTHER_WIDTH: u32 = 600;
const WIDE_WIDTH: u32 = 1000;
/// Percent of safety: the reader's own font may be wider, and too much room does no harm.
const SAFETY_PERCENT: u32 = 108;

/// Returns a text's width at a font size, in the size's unit.
pub(super) fn text_width(text: &str, size: u32) -> u32 {
    let thousandths: u32 = text.chars().map(advance_width).sum();
    (thousandths * SAFETY_PERCENT).div_ceil(100) * size / 1000
}

fn advance_width(character: char) -> u32 {
    let place = u32::from(character)
        .checked_sub(u32::from(' '))
        .and_then(|place| usize::try_from(place).ok());
    match place.and_then(|place| ASCII_WIDTHS.get(place)) {
        Some(width) => u32::from(*width),
        None => match character.width() {
            None | Some(0) => 0,
            Some(1) => OTHER_WIDTH,
            Some(_) => WIDE_WIDTH,
        },
    }
}

/// Shortens a text to a width, at a character boundary and with an ellipsis.
pub(super) fn shorten_to_width(text: &str, size: u32, most: u32) -> String {
    if text_width(text, size) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if text_width(&kept, size) + text_width("…", size) > most {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

/// Maximum pixels of a name in titles and findings. The table has the whole name.
const MAX_SAID: u32 = 400;

/// Shortens a name for titles and findings, so that long names cannot exceed the size budget.
pub(super) fn shorten_name(name: &str) -> String {
    shorten_to_width(name, 12, MAX_SAID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_letters() {
        // 278 thousandths of 1,000, and 8% more.
        assert_eq!(text_width(" ", 1000), 301);
        assert_eq!(text_width("~", 1000), 631);
        assert!(text_width("iiii", 1200) * 3 < text_width("mmmm", 1200));
        assert_eq!(text_width("é", 1000), 648);
        assert_eq!(text_width("漢", 1000), 1080);
        assert_eq!(text_width("e\u{301}", 1000), text_width("e", 1000));
        assert_eq!(text_width("", 1000), 0);
    }

    #[test]
    fn long_names_are_shortened_and_short_ones_stay() {
        assert_eq!(shorten_to_width("ralph", 1200, 20_000), "ralph");
        let short = shorten_to_width(&"w".repeat(300), 1200, 12_000);
        assert!(
            short.ends_with("w…") && text_width(&short, 1200) <= 12_000,
            "{short}"
        );
    }
}

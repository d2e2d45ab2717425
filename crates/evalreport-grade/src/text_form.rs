//! The form in which texts are compared.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// How two texts are made comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextForm {
    /// Full case folding of Unicode: `ß` equals `SS`.
    pub(crate) ignore_case: bool,
    /// NFKC instead of NFC.
    pub(crate) compatible: bool,
    pub(crate) strip_accents: bool,
}

impl TextForm {
    /// Returns the text in this form, in which runs of white space are one space and there is none at the ends.
    pub(crate) fn apply(self, text: &str) -> String {
        let mut text = collapse_spaces(text);
        if self.ignore_case {
            text = unicase::UniCase::unicode(text.as_str()).to_folded_case();
        }
        if self.strip_accents {
            text = text
                .nfd()
                .filter(|mark| !is_combining_mark(*mark))
                .collect();
        }
        let text: String = if self.compatible {
            text.nfkc().collect()
        } else {
            text.nfc().collect()
        };
        // NFKC can make letters that fold further, such as full-width ones.
        if self.ignore_case && self.compatible {
            return unicase::UniCase::unicode(text.as_str())
                .to_folded_case()
                .nfkc()
                .collect();
        }
        text
    }
}

/// Returns the text with each run of white space as one space, and none at the ends.
pub(crate) fn collapse_spaces(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !whole.is_empty() {
            whole.push(' ');
        }
        whole.push_str(word);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_folds_fully_and_accents_go_only_if_asked() {
        let plain = TextForm::default();
        let folded = TextForm {
            ignore_case: true,
            ..plain
        };
        assert_eq!(folded.apply("STRASSE"), folded.apply("stra\u{df}e"));
        assert_ne!(plain.apply("Paris"), plain.apply("paris"));
        assert_eq!(plain.apply("cafe\u{301}"), plain.apply("caf\u{e9}"));
        assert_ne!(plain.apply("cafe"), plain.apply("caf\u{e9}"));
        let stripped = TextForm {
            strip_accents: true,
            ..plain
        };
        assert_eq!(stripped.apply("cafe"), stripped.apply("caf\u{e9}"));
        assert_eq!(plain.apply(" New\u{a0}\n York "), "New York");
    }

    #[test]
    fn compatible_forms_are_equal_only_with_nfkc() {
        let wide = "\u{ff21}\u{ff22}";
        let nfkc = TextForm {
            compatible: true,
            ..TextForm::default()
        };
        assert_eq!(nfkc.apply(wide), "AB");
        assert_ne!(TextForm::default().apply(wide), "AB");
        let both = TextForm {
            ignore_case: true,
            ..nfkc
        };
        assert_eq!(both.apply(wide), "ab");
    }
}

//! Kinds of marks: each has a class, which the stylesheet colours.

use plotters::style::{Color, RGBAColor, ShapeStyle, TextStyle};
use plotters_backend::{BackendColor, FontFamily};

use super::size::{TEXT_PIXELS, UNITS_PER_PIXEL};

/// Number of arms with a colour and a sign of their own. Further arms share a grey.
pub(super) const SERIES_COUNT: usize = 6;
/// The signs of the series, which identify arms without colour.
pub(super) const SERIES_SIGNS: [&str; SERIES_COUNT] = ["●", "■", "▲", "◆", "✚", "▼"];

/// The kind of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Grid,
    Axis,
    Tick,
    /// Name beside a mark.
    Name,
    /// Emphasised point: on the front, or a significant difference.
    Strong,
    StrongCross,
    /// Point without emphasis: dominated, or no significant difference.
    Weak,
    WeakCross,
    /// Many points without emphasis in one path.
    WeakDots,
    StrongDots,
    /// Dividing line: the front, or the boundary of significance.
    Curve,
    Band,
    Line,
    /// A change point.
    Change,
    /// A break in the series, across which nothing is compared.
    Break,
    Rest,
    /// An arm with a colour of its own, by its place among the first six.
    Series(SeriesIndex),
    /// The sign of such an arm.
    SeriesSign(SeriesIndex),
}

/// A place among the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeriesIndex(u8);

impl SeriesIndex {
    /// Returns `None` from the seventh place on.
    pub fn new(index: usize) -> Option<Self> {
        u8::try_from(index)
            .ok()
            .filter(|place| usize::from(*place) < SERIES_COUNT)
            .map(Self)
    }

    pub fn sign(self) -> &'static str {
        SERIES_SIGNS[usize::from(self.0)]
    }

    /// Returns the stylesheet's class of the series.
    pub fn class(self) -> &'static str {
        ["c-s0", "c-s1", "c-s2", "c-s3", "c-s4", "c-s5"][usize::from(self.0)]
    }

    /// Returns the stylesheet's class of the series' sign.
    pub fn sign_class(self) -> &'static str {
        ["c-g0", "c-g1", "c-g2", "c-g3", "c-g4", "c-g5"][usize::from(self.0)]
    }
}

/// All kinds except the series, in the order of their codes.
const PLAIN_INKS: [Ink; 16] = [
    Ink::Grid,
    Ink::Axis,
    Ink::Tick,
    Ink::Name,
    Ink::Strong,
    Ink::StrongCross,
    Ink::Weak,
    Ink::WeakCross,
    Ink::WeakDots,
    Ink::StrongDots,
    Ink::Curve,
    Ink::Band,
    Ink::Line,
    Ink::Change,
    Ink::Break,
    Ink::Rest,
];
/// First code of the series.
const FIRST_SERIES_CODE: u8 = 100;
/// First code of the series' signs.
const FIRST_SIGN_CODE: u8 = 200;

impl Ink {
    /// Returns the ink of the arm with this colour number.
    pub fn from_colour_number(colour: Option<u8>) -> Self {
        colour
            .and_then(|colour| SeriesIndex::new(usize::from(colour)))
            .map_or(Self::Rest, Self::Series)
    }

    pub fn class(self) -> &'static str {
        match self {
            Self::Grid => "c-grid",
            Self::Axis => "c-axis",
            Self::Tick => "c-tick",
            Self::Name => "c-name",
            Self::Strong => "c-on",
            Self::StrongCross => "c-onx",
            Self::Weak => "c-off",
            Self::WeakCross => "c-offx",
            Self::WeakDots => "c-dots",
            Self::StrongDots => "c-ondots",
            Self::Curve => "c-curve",
            Self::Band => "c-band",
            Self::Line => "c-line",
            Self::Change => "c-change",
            Self::Break => "c-break",
            Self::Rest => "c-rest",
            Self::Series(place) => place.class(),
            Self::SeriesSign(place) => place.sign_class(),
        }
    }

    pub fn code(self) -> u8 {
        match self {
            Self::Series(place) => FIRST_SERIES_CODE + place.0,
            Self::SeriesSign(place) => FIRST_SIGN_CODE + place.0,
            plain => (0..)
                .zip(PLAIN_INKS)
                .find(|(_, ink)| *ink == plain)
                .map_or(0, |(code, _)| code),
        }
    }

    pub fn from_code(code: u8) -> Option<Self> {
        match (
            code.checked_sub(FIRST_SERIES_CODE),
            code.checked_sub(FIRST_SIGN_CODE),
        ) {
            (_, Some(place)) => SeriesIndex::new(usize::from(place)).map(Self::SeriesSign),
            (Some(place), None) => SeriesIndex::new(usize::from(place)).map(Self::Series),
            (None, None) => PLAIN_INKS.get(usize::from(code)).copied(),
        }
    }
}

/// Conversion between plotters' colours and our classes.
impl Ink {
    /// Returns a colour that encodes the class for plotters.
    fn encoded_color(self) -> RGBAColor {
        RGBAColor(0, 0, self.code(), 1.0)
    }

    pub fn from_color(color: BackendColor) -> Option<Self> {
        if color.alpha > 0.0 {
            Self::from_code(color.rgb.2)
        } else {
            None
        }
    }

    pub fn shape_style(self) -> ShapeStyle {
        self.encoded_color().filled()
    }

    pub fn text_style(self) -> TextStyle<'static> {
        let mut style = TextStyle::from((
            FontFamily::SansSerif,
            TEXT_PIXELS * UNITS_PER_PIXEL.unsigned_abs(),
        ));
        style.color = BackendColor {
            alpha: 1.0,
            rgb: (0, 0, self.code()),
        };
        style
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_survives_being_a_colour() {
        for ink in PLAIN_INKS
            .into_iter()
            .chain((0..6).map(|colour| Ink::from_colour_number(Some(colour))))
            .chain(
                (0..SERIES_COUNT)
                    .filter_map(SeriesIndex::new)
                    .map(Ink::SeriesSign),
            )
        {
            assert_eq!(Ink::from_code(ink.code()), Some(ink));
        }
        assert_eq!(
            (
                Ink::from_colour_number(Some(6)),
                Ink::from_code(99),
                Ink::from_code(255)
            ),
            (Ink::Rest, None, None)
        );
    }
}

//! What a picture is drawn from.

use super::letters::Face;

/// A colour as red, green and blue.
pub type Colour = [u8; 3];

/// What is drawn, in pixels.
#[derive(Clone, Debug)]
pub enum PictureShape {
    Rectangle {
        at: [f64; 2],
        size: [f64; 2],
        colour: Colour,
    },
    Dot {
        at: [f64; 2],
        radius: f64,
        colour: Colour,
    },
    /// A closed outline of straight edges.
    Outline {
        points: Vec<[f64; 2]>,
        colour: Colour,
    },
    /// `at` is the left end of the baseline, or the right end.
    Text {
        at: [f64; 2],
        is_right: bool,
        face: Face,
        colour: Colour,
        text: String,
    },
}

//! Pixels, and how shapes cover them.

use super::letters::{self, Glyph};
use super::shape::{Colour, PictureShape};

/// Samples along each side of a pixel for shapes with slanted edges.
const SAMPLES: usize = 4;
const CHANNELS: usize = 3;

/// Rows of pixels with red, green and blue.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            bytes: vec![u8::MAX; width * height * CHANNELS],
        }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn draw(&mut self, shape: &PictureShape) {
        match shape {
            PictureShape::Rectangle { at, size, colour } => {
                let [left, top] = *at;
                let [right, bottom] = [left + size[0], top + size[1]];
                self.fill([left, top, right, bottom], *colour, |x, y| {
                    (left..right).contains(&x) && (top..bottom).contains(&y)
                });
            }
            PictureShape::Dot { at, radius, colour } => {
                let [x, y] = *at;
                self.fill(
                    [x - radius, y - radius, x + radius, y + radius],
                    *colour,
                    |sample_x, sample_y| (sample_x - x).hypot(sample_y - y) <= *radius,
                );
            }
            PictureShape::Outline { points, colour } => {
                let ends = |axis: usize| {
                    points
                        .iter()
                        .map(|point| point[axis])
                        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
                            [low.min(value), high.max(value)]
                        })
                };
                let ([left, right], [top, bottom]) = (ends(0), ends(1));
                self.fill([left, top, right, bottom], *colour, |x, y| {
                    is_inside(points, x, y)
                });
            }
            PictureShape::Text {
                at,
                is_right,
                face,
                colour,
                text,
            } => {
                let width = if *is_right { face.width_of(text) } else { 0.0 };
                let mut x = at[0] - width;
                for letter in text.chars() {
                    let glyph = letters::glyph(*face, letter);
                    self.draw_glyph(glyph, [x.round(), at[1].round()], *colour);
                    x += glyph.advance;
                }
            }
        }
    }

    /// Colours each pixel of a box by the share of its samples that are inside.
    fn fill(
        &mut self,
        [left, top, right, bottom]: [f64; 4],
        colour: Colour,
        is_inside: impl Fn(f64, f64) -> bool,
    ) {
        let within = |value: f64, most: usize| whole(value.max(0.0)).min(most);
        let (first_row, last_row) = (
            within(top.floor(), self.height),
            within(bottom.ceil(), self.height),
        );
        let (first, last) = (
            within(left.floor(), self.width),
            within(right.ceil(), self.width),
        );
        for y in first_row..last_row {
            for x in first..last {
                let middle = |step: usize| (step as f64 + 0.5) / SAMPLES as f64;
                let hits = (0..SAMPLES * SAMPLES)
                    .filter(|sample| {
                        is_inside(
                            x as f64 + middle(sample % SAMPLES),
                            y as f64 + middle(sample / SAMPLES),
                        )
                    })
                    .count();
                self.blend(x, y, colour, hits as f64 / (SAMPLES * SAMPLES) as f64);
            }
        }
    }

    fn draw_glyph(&mut self, glyph: &Glyph, [x, y]: [f64; 2], colour: Colour) {
        for (row, line) in glyph.rows().enumerate() {
            for (column, share) in line.iter().enumerate() {
                let left = x + f64::from(glyph.left) + column as f64;
                let top = y + f64::from(glyph.top) + row as f64;
                if left >= 0.0 && top >= 0.0 {
                    self.blend(
                        whole(left),
                        whole(top),
                        colour,
                        f64::from(*share) / letters::FULL,
                    );
                }
            }
        }
    }

    fn blend(&mut self, x: usize, y: usize, colour: Colour, share: f64) {
        if x >= self.width || y >= self.height || share <= 0.0 {
            return;
        }
        let pixel = &mut self.bytes[(y * self.width + x) * CHANNELS..][..CHANNELS];
        for (own, new) in pixel.iter_mut().zip(colour) {
            let mixed = f64::from(*own) * (1.0 - share) + f64::from(new) * share;
            *own = u8::try_from(whole(mixed.round())).unwrap_or(u8::MAX);
        }
    }
}

/// Returns a number of pixels, at least zero, as a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers below zero become zero, and pictures have few pixels"
)]
fn whole(value: f64) -> usize {
    value as usize
}

/// Says whether a point is inside an outline, by the edges that a line from it to the right crosses.
fn is_inside(points: &[[f64; 2]], x: f64, y: f64) -> bool {
    let next = points.iter().cycle().skip(1);
    points
        .iter()
        .zip(next)
        .filter(|([x1, y1], [x2, y2])| {
            (*y1 > y) != (*y2 > y) && x < (x2 - x1) * (y - y1) / (y2 - y1) + x1
        })
        .count()
        % 2
        == 1
}

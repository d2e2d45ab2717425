//! Pictures for link previews, drawn without a browser: a few shapes and texts as SVG, and the same as PNG.
//!
//! Programs that show previews load neither SVG nor fonts, so the PNG has letters of its own (see `letters`).

mod canvas;
mod letters;
mod png;
mod shape;

use std::fmt::Write;

use crate::domain::escape_invisible;

pub use letters::Face;
pub use shape::{Colour, PictureShape};

/// A picture with a white ground.
#[derive(Clone, Debug)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    /// What it shows, in words.
    pub about: String,
    pub shapes: Vec<PictureShape>,
}

impl Picture {
    /// Writes the picture as SVG.
    pub fn to_svg(&self) -> String {
        let about = escape(&self.about);
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{about}\">\n\
             <title>{about}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <g font-family=\"DejaVu Sans,Verdana,system-ui,sans-serif\">\n"
        );
        for shape in &self.shapes {
            write_shape(&mut svg, shape);
        }
        svg.push_str("</g>\n</svg>\n");
        svg
    }

    /// Draws the picture as PNG. Letters that are not among ours become boxes.
    pub fn to_png(&self) -> Vec<u8> {
        let mut canvas = canvas::Canvas::new(self.width, self.height);
        for shape in &self.shapes {
            canvas.draw(shape);
        }
        png::encode(self.width, self.height, &canvas.into_bytes())
    }
}

fn write_shape(svg: &mut String, shape: &PictureShape) {
    let hex = |[red, green, blue]: &Colour| format!("#{red:02x}{green:02x}{blue:02x}");
    // Writing to a text cannot fail.
    let _ = match shape {
        PictureShape::Rectangle { at, size, colour } => writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            at[0],
            at[1],
            size[0],
            size[1],
            hex(colour)
        ),
        PictureShape::Dot { at, radius, colour } => writeln!(
            svg,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" fill=\"{}\"/>",
            at[0],
            at[1],
            hex(colour)
        ),
        PictureShape::Outline { points, colour } => {
            let points: Vec<String> = points.iter().map(|[x, y]| format!("{x},{y}")).collect();
            writeln!(
                svg,
                "<polygon points=\"{}\" fill=\"{}\"/>",
                points.join(" "),
                hex(colour)
            )
        }
        PictureShape::Text {
            at,
            is_right,
            face,
            colour,
            text,
        } => writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{} fill=\"{}\">{}</text>",
            at[0],
            at[1],
            face.size(),
            if face.is_bold() {
                " font-weight=\"700\""
            } else {
                ""
            },
            if *is_right {
                " text-anchor=\"end\""
            } else {
                ""
            },
            hex(colour),
            escape(text)
        ),
    };
}

fn escape(text: &str) -> String {
    escape_invisible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        Picture {
            width: 60,
            height: 40,
            about: "a <b>".to_owned(),
            shapes: vec![
                PictureShape::Rectangle {
                    at: [0.0, 0.0],
                    size: [10.0, 10.0],
                    colour: [255, 0, 0],
                },
                PictureShape::Text {
                    at: [20.0, 30.0],
                    is_right: false,
                    face: Face::Small,
                    colour: [0, 0, 0],
                    text: "<i>".to_owned(),
                },
            ],
        }
    }

    #[test]
    fn texts_are_escaped_in_svg() {
        let svg = picture().to_svg();
        assert!(
            svg.contains("&lt;i&gt;") && svg.contains("<title>a &lt;b&gt;</title>"),
            "{svg}"
        );
        assert!(!svg.contains("<i>"));
    }

    #[test]
    fn a_png_has_the_pixels_that_were_drawn() {
        let drawn = picture().to_png();
        let pixels = png::tests::decode(&drawn);
        let at = |x: usize, y: usize| &pixels[(y * 60 + x) * 3..][..3];
        assert_eq!(at(5, 5), [255, 0, 0]);
        assert_eq!(at(55, 5), [255, 255, 255]);
        let dark = pixels.chunks(3).filter(|pixel| pixel[0] < 100).count();
        assert!(dark > 20, "{dark} dark pixels: the letters are not drawn");
        assert_eq!(drawn, picture().to_png());
    }
}

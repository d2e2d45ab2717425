//! Plotters backend: an SVG with classes instead of colours, on a grid of a hundred units per pixel.
//!
//! The site's stylesheet gives the classes their colours, in light and dark, on paper and with forced colours. Nothing here asks the
//! machine for a font, and equal calls make equal bytes.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt;

use askama::filters::HtmlSafe;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use crate::domain::escape_invisible;

use super::ink::Ink;
use super::size::{TEXT_PIXELS, UNITS_PER_PIXEL};
use super::widths::text_width;

/// Bytes after which marks get no title of their own. The rest of the budget has room for hundreds of bare marks.
const MAX_TITLED_BYTES: usize = 16 * 1024;

/// A finished drawing. Its texts are escaped, so templates insert it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Svg {
    text: String,
    /// Number of lines, shapes and texts.
    pub marks: usize,
}

impl Svg {
    /// Returns its size in a page, in bytes.
    pub fn byte_count(&self) -> usize {
        self.text.len()
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl HtmlSafe for Svg {}

/// Title and description of a drawing, for those who cannot see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawingDescription<'a> {
    /// Unique on its page, and chosen by us: it needs no escaping.
    pub id: &'a str,
    pub title: &'a str,
    /// The finding in words.
    pub finding: &'a str,
}

/// A sheet to draw on.
#[derive(Debug)]
pub(super) struct DrawingSheet {
    width: u32,
    height: u32,
    body: RefCell<SvgBody>,
}

#[derive(Debug, Default)]
struct SvgBody {
    out: String,
    /// Strokes of one class that follow each other become one path.
    strokes: Option<(Ink, String)>,
    marks: usize,
    links: usize,
}

impl DrawingSheet {
    /// Creates an empty sheet of this size in pixels.
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            body: RefCell::default(),
        }
    }

    /// Says whether there is room for marks with a title and a link.
    pub fn has_room(&self) -> bool {
        self.body.borrow().out.len() < MAX_TITLED_BYTES
    }

    /// Draws marks as one group with a title. With `href` the group is a link.
    pub fn draw_group(&self, title: &str, href: Option<&str>, draw: impl FnOnce()) {
        let close = {
            let mut body = self.body.borrow_mut();
            body.flush();
            let close = match href {
                Some(href) => {
                    body.links += 1;
                    body.out
                        .push_str(&format!("<a href=\"{}\">", escape_markup(href)));
                    "</a>"
                }
                None => {
                    body.out.push_str("<g>");
                    "</g>"
                }
            };
            body.out
                .push_str(&format!("<title>{}</title>", escape_markup(title)));
            close
        };
        draw();
        let mut body = self.body.borrow_mut();
        body.flush();
        body.out.push_str(close);
    }

    /// Ends the drawing. If it has links, its role is a group instead of a picture.
    pub fn into_svg(self, about: DrawingDescription<'_>) -> Svg {
        let Self {
            width,
            height,
            body,
        } = self;
        let mut body = body.into_inner();
        body.flush();
        let DrawingDescription { id, title, finding } = about;
        let role = if body.links > 0 { "group" } else { "img" };
        let text = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"{role}\" aria-labelledby=\"{id}-t {id}-d\" font-size=\"{TEXT_PIXELS}\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{}</svg>",
            escape_markup(title),
            escape_markup(finding),
            body.out
        );
        Svg {
            text,
            marks: body.marks,
        }
    }
}

impl SvgBody {
    fn flush(&mut self) {
        if let Some((ink, path)) = self.strokes.take() {
            self.out
                .push_str(&format!("<path class=\"{}\" d=\"{path}\"/>", ink.class()));
        }
    }

    fn add_stroke(&mut self, ink: Ink, points: &[BackendCoord]) {
        self.marks += 1;
        if self.strokes.as_ref().is_some_and(|(own, _)| *own != ink) {
            self.flush();
        }
        let (_, path) = self.strokes.get_or_insert_with(|| (ink, String::new()));
        path.push_str(&path_data(points));
    }

    fn add_shape(&mut self, element: &str) {
        self.marks += 1;
        self.flush();
        self.out.push_str(element);
    }
}

/// Writes a line through points as an SVG path, with short forms for horizontal and vertical parts.
fn path_data(points: &[BackendCoord]) -> String {
    let mut path = String::new();
    let mut last: Option<BackendCoord> = None;
    for (x, y) in points.iter().copied() {
        match last {
            None => path.push_str(&format!("M{} {}", format_pixels(x), format_pixels(y))),
            Some(before) if before == (x, y) => path.push_str("h0"),
            Some((_, before)) if before == y => path.push_str(&format!("H{}", format_pixels(x))),
            Some((before, _)) if before == x => path.push_str(&format!("V{}", format_pixels(y))),
            Some(_) => path.push_str(&format!("L{} {}", format_pixels(x), format_pixels(y))),
        }
        last = Some((x, y));
    }
    path
}

/// Formats a length in pixels with at most two decimals, and never as a negative zero.
fn format_pixels(units: i32) -> String {
    let (whole, rest) = (units.unsigned_abs() / 100, units.unsigned_abs() % 100);
    let sign = if units < 0 { "-" } else { "" };
    match rest {
        0 => format!("{sign}{whole}"),
        rest if rest % 10 == 0 => format!("{sign}{whole}.{}", rest / 10),
        rest => format!("{sign}{whole}.{rest:02}"),
    }
}

/// Escapes foreign text for both text and quoted attributes.
fn escape_markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in escape_invisible(text).chars() {
        match character {
            '&' => safe.push_str("&#38;"),
            '<' => safe.push_str("&#60;"),
            '>' => safe.push_str("&#62;"),
            '"' => safe.push_str("&#34;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

type DrawingResult = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for &DrawingSheet {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (
            self.width * UNITS_PER_PIXEL.unsigned_abs(),
            self.height * UNITS_PER_PIXEL.unsigned_abs(),
        )
    }

    fn ensure_prepared(&mut self) -> DrawingResult {
        Ok(())
    }

    fn present(&mut self) -> DrawingResult {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> DrawingResult {
        self.draw_rect(
            (x, y),
            (x + UNITS_PER_PIXEL, y + UNITS_PER_PIXEL),
            &color,
            true,
        )
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawingResult {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawingResult {
        if let Some(ink) = Ink::from_color(style.color()) {
            self.body
                .borrow_mut()
                .add_stroke(ink, &path.into_iter().collect::<Vec<_>>());
        }
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        _: bool,
    ) -> DrawingResult {
        self.fill_polygon(
            [(left, top), (right, top), (right, bottom), (left, bottom)],
            style,
        )
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        _: bool,
    ) -> DrawingResult {
        if let Some(ink) = Ink::from_color(style.color()) {
            let radius = format_pixels(i32::try_from(radius).unwrap_or(UNITS_PER_PIXEL));
            let element = format!(
                "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{radius}\"/>",
                ink.class(),
                format_pixels(x),
                format_pixels(y)
            );
            self.body.borrow_mut().add_shape(&element);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> DrawingResult {
        if let Some(ink) = Ink::from_color(style.color()) {
            let path = path_data(&corners.into_iter().collect::<Vec<_>>());
            self.body
                .borrow_mut()
                .add_shape(&format!("<path class=\"{}\" d=\"{path}Z\"/>", ink.class()));
        }
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> DrawingResult {
        let Some(ink) = Ink::from_color(style.color()) else {
            return Ok(());
        };
        let size = i32::try_from(TEXT_PIXELS).unwrap_or(0) * UNITS_PER_PIXEL;
        // Distance from the anchor to the base line: capitals are about 70% of the font size high.
        let down = match style.anchor().v_pos {
            VPos::Top => size * 8 / 10,
            VPos::Center => size * 35 / 100,
            VPos::Bottom => -size * 2 / 10,
        };
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        let (turn, place) = match style.transform() {
            FontTransform::None => (None, (x, y + down)),
            FontTransform::Rotate90 => (Some(90), (x - down, y)),
            FontTransform::Rotate180 => (Some(180), (x, y - down)),
            FontTransform::Rotate270 => (Some(-90), (x + down, y)),
        };
        let (x, y) = (format_pixels(place.0), format_pixels(place.1));
        let turn = turn.map_or_else(String::new, |degrees| {
            format!(" transform=\"rotate({degrees} {x} {y})\"")
        });
        let element = format!(
            "<text class=\"{}\" x=\"{x}\" y=\"{y}\"{anchor}{turn}>{}</text>",
            ink.class(),
            escape_markup(text)
        );
        self.body.borrow_mut().add_shape(&element);
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        _: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = TEXT_PIXELS * UNITS_PER_PIXEL.unsigned_abs();
        Ok((text_width(text, size), size))
    }
}

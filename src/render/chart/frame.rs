//! A drawing with two axes, and placement of names in free space.

use std::convert::Infallible;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon};
use plotters::style::{Color, TRANSPARENT};
use plotters_backend::text_anchor::{HPos, Pos, VPos};

use super::axis::ChartAxis;
use super::backend::DrawingSheet;
use super::ink::Ink;
use super::size::{TEXT_PIXELS, UNITS_PER_PIXEL};
use super::widths::{shorten_to_width, text_width};

/// A position on the sheet, in units.
pub(super) type SheetPoint = (i32, i32);

/// Maximum width of a name in pixels. Longer ones are shortened; the mark's title and the table have the whole name.
const MAX_NAME: i32 = 130;

/// The plane between two axes.
pub(super) struct ChartFrame<'a> {
    area: DrawingArea<&'a DrawingSheet, Shift>,
    plane: ChartContext<'a, &'a DrawingSheet, Cartesian2d<ChartAxis, ChartAxis>>,
    x: ChartAxis,
    y: ChartAxis,
}

impl<'a> ChartFrame<'a> {
    /// Draws the axes.
    pub fn new(sheet: &'a DrawingSheet, x: ChartAxis, y: ChartAxis) -> Self {
        let area = sheet.into_drawing_area();
        let size = TEXT_PIXELS * UNITS_PER_PIXEL.unsigned_abs();
        let left = y
            .ticks
            .iter()
            .map(|(_, text)| text_width(text, size))
            .max()
            .unwrap_or(0)
            + 2 * size
            + 8 * UNITS_PER_PIXEL.unsigned_abs();
        let mut builder = ChartBuilder::on(&area);
        builder
            .margin_top(size)
            .margin_right(3 * size)
            .margin_left(0)
            .margin_bottom(0);
        builder
            .y_label_area_size(left)
            .x_label_area_size(if x.name.is_empty() {
                2 * size
            } else {
                3 * size + size / 2
            });
        let mut plane = expect_drawn(builder.build_cartesian_2d(x.clone(), y.clone()));
        expect_drawn(
            plane
                .configure_mesh()
                .bold_line_style(Ink::Grid.shape_style())
                .light_line_style(TRANSPARENT)
                .axis_style(Ink::Axis.shape_style())
                .label_style(Ink::Tick.text_style())
                .axis_desc_style(Ink::Tick.text_style())
                .set_all_tick_mark_size(4 * UNITS_PER_PIXEL)
                .x_desc(x.name.as_str())
                .y_desc(y.name.as_str())
                .draw(),
        );
        Self { area, plane, x, y }
    }

    /// Returns the position of a pair of values.
    pub fn position_of(&self, x: f64, y: f64) -> SheetPoint {
        self.plane
            .backend_coord(&(self.x.value_position(x), self.y.value_position(y)))
    }

    /// Returns the edges of the plane: left, top, right, bottom.
    pub fn edges(&self) -> (i32, i32, i32, i32) {
        let (left, top) = self.plane.backend_coord(&(self.x.low, self.y.high));
        let (right, bottom) = self.plane.backend_coord(&(self.x.high, self.y.low));
        (left, top, right, bottom)
    }

    pub fn draw_line(&self, ink: Ink, points: Vec<SheetPoint>) {
        expect_drawn(self.area.draw(&PathElement::new(points, ink.shape_style())));
    }

    /// Draws a dot in few bytes: a stroke of zero length, which the stylesheet makes round.
    pub fn draw_dot(&self, ink: Ink, (x, y): SheetPoint) {
        self.draw_line(ink, vec![(x, y), (x, y)]);
    }

    pub fn draw_circle(&self, ink: Ink, at: SheetPoint, radius: i32) {
        expect_drawn(self.area.draw(&Circle::new(at, radius, ink.shape_style())));
    }

    pub fn fill_area(&self, ink: Ink, corners: Vec<SheetPoint>) {
        expect_drawn(
            self.area
                .draw(&Polygon::new(corners, ink.shape_style().color.filled())),
        );
    }

    pub fn draw_text(&self, ink: Ink, text: &str, at: SheetPoint, side: HPos, height: VPos) {
        expect_drawn(
            self.area
                .draw_text(text, &ink.text_style().pos(Pos::new(side, height)), at),
        );
    }
}

/// Unwraps a drawing result: drawing goes into memory, and the sizes are our own.
fn expect_drawn<T>(result: Result<T, DrawingAreaErrorKind<Infallible>>) -> T {
    result.expect("drawing into memory cannot fail, and the label areas are smaller than the sheet")
}

/// Places names where there is free space.
pub(super) struct NamePlacement {
    edges: (i32, i32, i32, i32),
    taken: Vec<(i32, i32, i32, i32)>,
}

impl NamePlacement {
    pub fn new(frame: &ChartFrame<'_>) -> Self {
        let (left, top, right, bottom) = frame.edges();
        // Names may also use the right margin.
        Self {
            edges: (left, top, right + 30 * UNITS_PER_PIXEL, bottom),
            taken: Vec::new(),
        }
    }

    /// Keeps names away from a mark.
    pub fn avoid_mark(&mut self, (x, y): SheetPoint, radius: i32) {
        self.taken
            .push((x - radius, y - radius, x + radius, y + radius));
    }

    /// Keeps names off a line of horizontal and vertical parts.
    pub fn avoid_line(&mut self, points: &[SheetPoint]) {
        for part in points.windows(2) {
            let ((one, upper), (other, lower)) = (part[0], part[1]);
            self.taken.push((
                one.min(other) - UNITS_PER_PIXEL,
                upper.min(lower) - UNITS_PER_PIXEL,
                one.max(other) + UNITS_PER_PIXEL,
                upper.max(lower) + UNITS_PER_PIXEL,
            ));
        }
    }

    /// Writes a name at the first free place to the right or left of a point, above or below it. Returns whether there was one.
    pub fn write_name(
        &mut self,
        frame: &ChartFrame<'_>,
        ink: Ink,
        name: &str,
        (x, y): SheetPoint,
    ) -> bool {
        let size = TEXT_PIXELS * UNITS_PER_PIXEL.unsigned_abs();
        let name = shorten_to_width(
            name,
            size,
            MAX_NAME.unsigned_abs() * UNITS_PER_PIXEL.unsigned_abs(),
        );
        let width = i32::try_from(text_width(&name, size)).unwrap_or(i32::MAX / 4);
        let (gap, half) = (7 * UNITS_PER_PIXEL, 7 * UNITS_PER_PIXEL);
        let beside = [
            (x + gap, y, HPos::Left),
            (x - gap, y, HPos::Right),
            (x, y - 2 * half, HPos::Center),
            (x, y + 2 * half, HPos::Center),
        ];
        // Try places further away, as long as the name clearly belongs to its mark.
        let around = [half + gap / 2, 3 * half, 5 * half]
            .into_iter()
            .flat_map(|away| {
                [
                    (x + gap, y - away, HPos::Left),
                    (x + gap, y + away, HPos::Left),
                    (x - gap, y - away, HPos::Right),
                    (x - gap, y + away, HPos::Right),
                ]
            });
        for (x, y, side) in beside.into_iter().chain(around) {
            let left = match side {
                HPos::Left => x,
                HPos::Center => x - width / 2,
                HPos::Right => x - width,
            };
            let own = (left, y - half, left + width, y + half);
            let (left, top, right, bottom) = self.edges;
            let fits = own.0 >= left && own.1 >= top && own.2 <= right && own.3 <= bottom;
            let meets = |other: &(i32, i32, i32, i32)| {
                own.0 < other.2 && other.0 < own.2 && own.1 < other.3 && other.1 < own.3
            };
            if fits && !self.taken.iter().any(meets) {
                self.taken.push(own);
                frame.draw_text(ink, &name, (x, y), side, VPos::Center);
                return true;
            }
        }
        false
    }
}

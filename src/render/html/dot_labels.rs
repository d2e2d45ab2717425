//! Places the names of dots in a plot, so that no name is nearer to another dot than to its own.

use std::f64::consts::TAU;

/// Directions that are tried at each distance.
const ANGLES: usize = 24;
/// Distances of a name from its dot in pixels: for large names, and for small ones, which rather have no name than one far away.
const NEAREST: f64 = 9.0;
const FURTHEST: [f64; 2] = [124.0, 26.0];
const DISTANCE_STEP: f64 = 4.0;
/// A name further away than this has a line to its dot.
const NEEDS_LEADER: f64 = 14.0;
/// Radius of a dot with the space around it, and the space between a dot and another dot's line.
const DOT_RADIUS: f64 = 7.0;
/// Widths of letters and heights of lines in pixels: of large, bold names and of small ones.
const LETTER_WIDTH: [f64; 2] = [6.9, 6.1];
const LINE_HEIGHT: [f64; 2] = [15.0, 14.0];
/// Distance of two points at which a line is looked at.
const SAMPLE_STEP: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelSize {
    Large,
    Small,
}

/// A dot with its name, and shorter names if there is no room.
pub(super) struct LabelledDot {
    /// Position in pixels.
    pub at: [f64; 2],
    /// Names, the preferred one first.
    pub texts: Vec<String>,
    pub size: LabelSize,
}

/// A placed name. Positions are pixels from the dot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DotLabel {
    pub text: super::shell::Text,
    pub x: String,
    pub y: String,
    pub anchor: &'static str,
    /// End of the line from the dot. `None` if the name is close.
    pub leader: Option<[String; 2]>,
}

/// Left, top, right and bottom.
type Edges = [f64; 4];

/// Places the names of the large dots in their order, then those of the small ones. `lines` are drawn and stay free; `size` is the plot's.
pub(super) fn place_labels(
    dots: &[LabelledDot],
    lines: &[[f64; 4]],
    size: [f64; 2],
) -> Vec<Option<DotLabel>> {
    let mut plot = Plot {
        dots,
        lines,
        size,
        taken: Vec::new(),
    };
    let mut labels: Vec<Option<DotLabel>> = dots.iter().map(|_| None).collect();
    for size in [LabelSize::Large, LabelSize::Small] {
        for (at, label) in labels.iter_mut().enumerate() {
            if dots[at].size == size {
                *label = plot.place(at);
            }
        }
    }
    labels
}

struct Plot<'a> {
    dots: &'a [LabelledDot],
    lines: &'a [[f64; 4]],
    size: [f64; 2],
    taken: Vec<Edges>,
}

impl Plot<'_> {
    fn place(&mut self, at: usize) -> Option<DotLabel> {
        let dot = &self.dots[at];
        let furthest = FURTHEST[dot.size as usize];
        for text in &dot.texts {
            let width = text.chars().count() as f64 * LETTER_WIDTH[dot.size as usize];
            let mut distance = NEAREST;
            while distance <= furthest {
                for angle in 0..ANGLES {
                    let candidate = Candidate::new(
                        dot.at,
                        distance,
                        TAU * angle as f64 / ANGLES as f64,
                        [width, LINE_HEIGHT[dot.size as usize]],
                    );
                    if self.is_free(at, &candidate) {
                        self.taken.push(candidate.edges);
                        return Some(candidate.label(dot.at, text));
                    }
                }
                distance += DISTANCE_STEP;
            }
        }
        None
    }

    fn is_free(&self, own: usize, candidate: &Candidate) -> bool {
        let edges = &candidate.edges;
        let [width, height] = self.size;
        let is_within =
            edges[0] >= 0.0 && edges[2] <= width && edges[1] >= 0.0 && edges[3] <= height;
        let to_own = distance_to(edges, self.dots[own].at);
        is_within
            && self.taken.iter().all(|other| !overlap(edges, other))
            && self.dots.iter().enumerate().all(|(at, dot)| {
                at == own
                    || (distance_to(edges, dot.at) > to_own.max(DOT_RADIUS)
                        && candidate
                            .leader_points(self.dots[own].at)
                            .all(|point| hypotenuse(point, dot.at) > DOT_RADIUS))
            })
            && self
                .lines
                .iter()
                .all(|line| along(*line).all(|point| distance_to(edges, point) > 1.0))
            && candidate.leader_points(self.dots[own].at).all(|point| {
                self.taken
                    .iter()
                    .all(|other| distance_to(other, point) > 0.0)
            })
    }
}

/// A place of a name that is tried.
struct Candidate {
    edges: Edges,
    anchor: &'static str,
    /// The point of the box next to the dot.
    foot: [f64; 2],
    distance: f64,
}

impl Candidate {
    fn new([x, y]: [f64; 2], distance: f64, angle: f64, [width, height]: [f64; 2]) -> Self {
        let foot = [x + distance * angle.cos(), y + distance * angle.sin()];
        let (left, anchor) = match angle.cos() {
            cosine if cosine > 0.3 => (foot[0], "start"),
            cosine if cosine < -0.3 => (foot[0] - width, "end"),
            _ => (foot[0] - width / 2.0, "middle"),
        };
        let top = match angle.sin() {
            sine if anchor == "middle" && sine > 0.0 => foot[1],
            _ if anchor == "middle" => foot[1] - height,
            _ => foot[1] - height / 2.0,
        };
        Self {
            edges: [left, top, left + width, top + height],
            anchor,
            foot,
            distance,
        }
    }

    /// Returns points of the line from the dot. Empty for a name without a line.
    fn leader_points(&self, dot: [f64; 2]) -> impl Iterator<Item = [f64; 2]> + use<> {
        let line = [dot[0], dot[1], self.foot[0], self.foot[1]];
        along(line).filter({
            let has_leader = self.distance > NEEDS_LEADER;
            move |_| has_leader
        })
    }

    fn label(&self, [x, y]: [f64; 2], text: &str) -> DotLabel {
        let pixels = |number: f64| format!("{}", number.round());
        let from_left = match self.anchor {
            "start" => self.edges[0],
            "end" => self.edges[2],
            _ => self.edges[0].midpoint(self.edges[2]),
        };
        DotLabel {
            text: super::shell::Text::new(text),
            x: pixels(from_left - x),
            // The baseline is above the lower edge by the letters' lower parts.
            y: pixels(self.edges[3] - 4.0 - y),
            anchor: self.anchor,
            leader: (self.distance > NEEDS_LEADER)
                .then(|| [pixels(self.foot[0] - x), pixels(self.foot[1] - y)]),
        }
    }
}

fn along([x1, y1, x2, y2]: [f64; 4]) -> impl Iterator<Item = [f64; 2]> {
    let steps = (hypotenuse([x1, y1], [x2, y2]) / SAMPLE_STEP)
        .ceil()
        .max(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, and as many as a picture has pixels"
    )]
    let last = steps as usize;
    (0..=last).map(move |step| {
        let share = step as f64 / steps;
        [x1 + share * (x2 - x1), y1 + share * (y2 - y1)]
    })
}

fn hypotenuse(one: [f64; 2], other: [f64; 2]) -> f64 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}

/// Returns a point's distance from a box. 0 within.
fn distance_to(edges: &Edges, [x, y]: [f64; 2]) -> f64 {
    let across = (edges[0] - x).max(x - edges[2]).max(0.0);
    let down = (edges[1] - y).max(y - edges[3]).max(0.0);
    across.hypot(down)
}

fn overlap(one: &Edges, other: &Edges) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(x: f64, y: f64, size: LabelSize) -> LabelledDot {
        LabelledDot {
            at: [x, y],
            texts: vec![format!("arm at {x}")],
            size,
        }
    }

    /// Returns the box of a placed name.
    fn edges_of(dot: &LabelledDot, label: &DotLabel) -> Edges {
        let [x, y] = [&label.x, &label.y].map(|text| text.parse::<f64>().expect("pixels"));
        let width = label.text.to_string().chars().count() as f64 * LETTER_WIDTH[dot.size as usize];
        let left = dot.at[0] + x
            - match label.anchor {
                "start" => 0.0,
                "end" => width,
                _ => width / 2.0,
            };
        let bottom = dot.at[1] + y + 4.0;
        [
            left,
            bottom - LINE_HEIGHT[dot.size as usize],
            left + width,
            bottom,
        ]
    }

    #[test]
    fn a_names_nearest_dot_is_its_own_in_any_crowd() {
        for crowd in 1_u32..=60 {
            let place =
                |seed: u32| f64::from((seed.wrapping_mul(2_654_435_761) >> 8) % 1000) / 1000.0;
            let dots: Vec<LabelledDot> = (0..crowd)
                .map(|number| {
                    let size = if number % 7 == 0 {
                        LabelSize::Large
                    } else {
                        LabelSize::Small
                    };
                    dot(
                        (800.0 * place(crowd * 131 + number)).round(),
                        (400.0 * place(crowd * 977 + number * 31 + 7)).round(),
                        size,
                    )
                })
                .collect();
            let labels = place_labels(&dots, &[], [850.0, 430.0]);
            for (at, label) in labels.iter().enumerate() {
                let Some(label) = label else { continue };
                let edges = edges_of(&dots[at], label);
                let own = distance_to(&edges, dots[at].at);
                // Places are rounded to pixels.
                let nearest = dots
                    .iter()
                    .map(|other| distance_to(&edges, other.at))
                    .fold(f64::INFINITY, f64::min);
                assert!(
                    own <= nearest + 1.5,
                    "{crowd} dots, {label:?}: {own}, {nearest}"
                );
            }
            assert!(labels[0].is_some() || crowd > 40, "{crowd} dots");
        }
    }

    #[test]
    fn lines_and_other_names_stay_free() {
        let dots = [
            dot(100.0, 100.0, LabelSize::Large),
            dot(100.0, 130.0, LabelSize::Large),
        ];
        let line = [100.0, 100.0, 400.0, 100.0];
        let labels = place_labels(&dots, &[line], [500.0, 300.0]);
        let boxes: Vec<Edges> = dots
            .iter()
            .zip(&labels)
            .map(|(dot, label)| edges_of(dot, label.as_ref().expect("room")))
            .collect();
        assert!(!overlap(&boxes[0], &boxes[1]));
        assert!(along(line).all(|point| distance_to(&boxes[0], point) > 0.0));
    }
}

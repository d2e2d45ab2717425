//! What the lines about each item repeat, and which item's line comes next.

use crate::results::{ItemMeasurements, LineTemplate, parse_templated_line};

/// The refrains of items, by number of [`ItemFactIds`](super::facts::ItemFactIds). Item files repeat one order, so the guess which line comes next is
/// nearly always right, and only the measurements of the line are read.
#[derive(Default)]
pub(super) struct LineTemplates {
    /// Heads and tails, one after the other.
    bytes: Vec<u8>,
    places: Vec<TemplateSpan>,
    /// By number: the other item whose line followed last time.
    following: Vec<u32>,
    last: u32,
}

/// The refrain of an item, which keeps the first one. Empty until it is known.
#[derive(Clone, Copy, Default)]
struct TemplateSpan {
    start: usize,
    head: usize,
    tail: usize,
}

impl LineTemplates {
    /// Reads the next line of `text`, if it is about an expected item. Returns its number, what was measured, and the text after the line.
    pub fn match_next_line<'t>(
        &mut self,
        text: &'t [u8],
        lead: &[u8],
    ) -> Option<(u32, ItemMeasurements, &'t [u8])> {
        // After the expected item, the same one: some files have the attempts at an item together.
        let following = self.following.get(self.last as usize).copied();
        let expected = following.into_iter().chain([self.last]);
        let (found, measured, rest) = expected
            .filter_map(|one| Some((one, self.template_of(one)?)))
            .find_map(|(one, refrain)| {
                let (measured, rest) = parse_templated_line(text, lead, refrain)?;
                Some((one, measured, rest))
            })?;
        self.last = found;
        Some((found, measured, rest))
    }

    /// Learns from a line that is about an item.
    pub fn learn_line(&mut self, told: u32, line: &[u8], lead: &[u8]) {
        let (last, place) = (self.last as usize, told as usize);
        let needed = last.max(place) + 1;
        if self.places.len() < needed {
            self.places.resize(needed, TemplateSpan::default());
            self.following.resize(needed, 0);
        }
        if last != place {
            self.following[last] = told;
        }
        self.last = told;
        if self.template_of(told).is_none()
            && let Some(refrain) = LineTemplate::from_line(line, lead)
        {
            self.places[place] = TemplateSpan {
                start: self.bytes.len(),
                head: refrain.head.len(),
                tail: refrain.tail.len(),
            };
            self.bytes.extend_from_slice(refrain.head);
            self.bytes.extend_from_slice(refrain.tail);
        }
    }

    fn template_of(&self, told: u32) -> Option<LineTemplate<'_>> {
        let TemplateSpan { start, head, tail } = *self
            .places
            .get(told as usize)
            .filter(|place| place.head > 0)?;
        let (head, tail) = self.bytes[start..start + head + tail].split_at(head);
        Some(LineTemplate { head, tail })
    }
}

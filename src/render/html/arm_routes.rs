//! Addresses of arms' pages. An address depends only on the arm's own name, unless another arm's name gives the same one. So pages of runs
//! need not be made again when an arm is added.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use crate::views::Arm;

use super::slug::unique_segments;

/// Maximum length of a segment.
const MAX_SEGMENT_LENGTH: usize = 120;

/// The addresses of a site's arms.
#[derive(Clone, Debug, Default)]
pub(super) struct ArmRoutes {
    /// Arms whose segment had to differ from the one that their name alone gives.
    moved: BTreeMap<Arm, String>,
}

impl ArmRoutes {
    pub fn new<'a>(arms: impl Iterator<Item = &'a Arm>) -> Self {
        let arms: BTreeSet<&Arm> = arms.collect();
        let mut users = BTreeMap::<String, usize>::new();
        for arm in &arms {
            *users.entry(segment_text(arm)).or_default() += 1;
        }
        // Two arms can have the same name but differ in where the approach ends and the model begins.
        let full = |arm: &Arm| match users[&segment_text(arm)] {
            1 => segment_text(arm),
            _ => format!("{}\u{1f}{}", arm.approach, arm.model),
        };
        let names: Vec<String> = arms.iter().map(|arm| full(arm)).collect();
        let given = unique_segments(names.iter().map(String::as_str), MAX_SEGMENT_LENGTH);
        let moved = arms.iter().zip(&names).filter_map(|(arm, name)| {
            let segment = &given[name.as_str()];
            (*segment != own_segment(arm)).then(|| ((*arm).clone(), segment.clone()))
        });
        Self {
            moved: moved.collect(),
        }
    }

    /// Returns the arm's unique part of addresses.
    pub fn segment(&self, arm: &Arm) -> String {
        self.moved
            .get(arm)
            .cloned()
            .unwrap_or_else(|| own_segment(arm))
    }

    pub fn path(&self, arm: &Arm) -> String {
        // `index.html` is the list of all arms.
        match self.segment(arm).as_str() {
            "index" => "arms/index-arm.html".to_owned(),
            segment => format!("arms/{segment}.html"),
        }
    }
}

impl Serialize for ArmRoutes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.moved)
    }
}

/// Returns the text from which an arm's segment is made. The usual dot between approach and model would be lost in a segment, so it is a
/// space.
fn segment_text(arm: &Arm) -> String {
    if arm.model.is_empty() {
        arm.approach.clone()
    } else {
        format!("{} {}", arm.approach, arm.model)
    }
}

/// Returns the segment that the arm's name alone gives.
fn own_segment(arm: &Arm) -> String {
    let name = segment_text(arm);
    unique_segments([name.as_str()], MAX_SEGMENT_LENGTH)
        .remove(name.as_str())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(approach: &str, model: &str) -> Arm {
        Arm {
            approach: approach.to_owned(),
            model: model.to_owned(),
        }
    }

    #[test]
    fn an_address_follows_from_the_name_unless_another_name_meets_it() {
        let [one, upper, other] = [
            arm("planner", "m1"),
            arm("Planner", "m1"),
            arm("react", "m1"),
        ];
        let places = ArmRoutes::new([&one, &other].into_iter());
        assert_eq!(
            (places.path(&one), places.path(&other)),
            (
                "arms/planner-m1.html".to_owned(),
                "arms/react-m1.html".to_owned()
            )
        );
        assert!(places.moved.is_empty());
        let met = ArmRoutes::new([&one, &upper, &other].into_iter());
        assert_eq!(met.path(&other), places.path(&other));
        assert_ne!(met.path(&one), met.path(&upper));
    }

    #[test]
    fn arms_of_one_name_and_the_list_of_arms_are_told_apart() {
        let (left, right) = (arm("a b", ""), arm("a", "b"));
        let places = ArmRoutes::new([&left, &right].into_iter());
        assert_ne!(places.path(&left), places.path(&right));
        assert_ne!(
            ArmRoutes::new([&arm("index", "")].into_iter()).path(&arm("index", "")),
            "arms/index.html"
        );
    }
}

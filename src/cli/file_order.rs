//! The order of arms that are files.

/// Files that are arms, by their names, in the order in which they were named. Empty if no file is an arm.
#[derive(Clone, Debug, Default)]
pub(super) struct FileOrder {
    labels: Vec<String>,
}

impl FileOrder {
    /// Returns the order of arms that are called after files.
    pub fn new(labels: Vec<String>) -> Self {
        Self { labels }
    }

    /// Sorts arms by their files. Of two, the first file is the base, which comes second like any baseline.
    pub fn sort_arms<T>(&self, arms: &mut [T], names: impl Fn(&T) -> (&str, &str)) {
        let place = |arm: &T| {
            let (name, model) = names(arm);
            let own = |label: &String| {
                if name == label {
                    Some("")
                } else {
                    name.strip_suffix(&format!(" ({label})"))
                }
            };
            let found = self
                .labels
                .iter()
                .enumerate()
                .find_map(|(place, label)| Some((place, own(label)?)));
            // Arms that are of no file come last.
            let (place, arm) = found.unwrap_or((self.labels.len(), name));
            let order = if self.labels.len() == 2 && place < 2 {
                1 - place
            } else {
                place
            };
            (found.is_none(), arm.to_owned(), model.to_owned(), order)
        };
        arms.sort_by_cached_key(place);
    }

    pub fn has_files(&self) -> bool {
        !self.labels.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_puts_the_base_second_and_keeps_arms_of_several_files_together() {
        let sorted = |labels: [&str; 2], mut arms: Vec<&'static str>| {
            FileOrder::new(labels.map(str::to_owned).to_vec())
                .sort_arms(&mut arms, |arm| (arm, "m"));
            arms
        };
        assert_eq!(
            sorted(["before", "after"], vec!["a", "before", "after"]),
            ["after", "before", "a"]
        );
        assert_eq!(
            sorted(
                ["old", "new"],
                vec!["b (new)", "a (old)", "a (new)", "b (old)"]
            ),
            ["a (new)", "a (old)", "b (new)", "b (old)"]
        );
    }
}

//! Settings that may be set in several files: the configuration sets defaults, and the suite overrides them key by key.

use crate::document::{Fields, Node};
use crate::domain::Problem;

/// One map of settings and its location.
#[derive(Clone, Debug)]
pub struct SettingsLayer<'a> {
    /// File name as shown in messages.
    pub file: &'a str,
    /// Path of the map within the file, such as `evaluators.efficiency`.
    pub path: String,
    pub node: &'a Node,
}

impl SettingsLayer<'_> {
    /// Passes every map to `read`, weakest first, so that later values win. Keys that `read` does not ask for become problems.
    pub fn read_all(
        layers: &[SettingsLayer<'_>],
        problems: &mut Vec<Problem>,
        mut read: impl FnMut(&mut Fields),
    ) {
        for layer in layers {
            if let Some(mut fields) =
                Fields::new(layer.file, layer.node, layer.path.as_str(), problems)
            {
                read(&mut fields);
                fields.finish();
            }
        }
    }
}

/// Replaces a setting if the map has the key; the value must be at least 0.
pub(super) fn read_amount(fields: &mut Fields, key: &str, setting: &mut f64) {
    if let Some(amount) = fields.amount(key) {
        *setting = amount;
    }
}

/// Replaces a setting if the map has the key; the value must be above 0, because it is used as a divisor.
pub(super) fn read_divisor(fields: &mut Fields, key: &str, setting: &mut f64) {
    match fields.amount(key) {
        Some(amount) if amount > 0.0 => *setting = amount,
        Some(_) => {
            let message = format!("`{}` must be greater than 0", fields.path_of(key));
            fields.reject(key, message, None);
        }
        None => {}
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::document;

    /// Reads settings from YAML texts, weakest first. Returns problems as `FILE:LINE:COLUMN: MESSAGE`.
    pub fn read_yaml_layers<T>(
        texts: &[&str],
        read: impl FnOnce(&[SettingsLayer], &mut Vec<Problem>) -> T,
    ) -> (T, Vec<String>) {
        let files: Vec<String> = (0..texts.len())
            .map(|index| format!("{index}.yaml"))
            .collect();
        let nodes: Vec<Node> = texts
            .iter()
            .zip(&files)
            .map(|(text, file)| document::parse(file, text).expect("a test's own YAML"))
            .collect();
        let layers: Vec<SettingsLayer> = files
            .iter()
            .zip(&nodes)
            .map(|(file, node)| SettingsLayer {
                file,
                path: "evaluators.x".to_owned(),
                node,
            })
            .collect();
        let mut problems = Vec::new();
        let settings = read(&layers, &mut problems);
        (settings, problems.iter().map(ToString::to_string).collect())
    }

    fn read_two_settings(layers: &[SettingsLayer], problems: &mut Vec<Problem>) -> (f64, f64) {
        let (mut some, mut per) = (1.0, 1.0);
        SettingsLayer::read_all(layers, problems, |fields| {
            read_amount(fields, "some", &mut some);
            read_divisor(fields, "per", &mut per);
        });
        (some, per)
    }

    #[test]
    fn later_layers_win_key_by_key() {
        assert_eq!(
            read_yaml_layers(&[], read_two_settings),
            ((1.0, 1.0), vec![])
        );
        assert_eq!(
            read_yaml_layers(&["some: 2\nper: 3\n", "some: 0\n"], read_two_settings),
            ((0.0, 3.0), vec![])
        );
        assert_eq!(
            read_yaml_layers(&["some: 2\n", "some: ~\n"], read_two_settings).0,
            (2.0, 1.0)
        );
    }

    #[test]
    fn every_mistake_of_every_layer_is_named_with_its_place() {
        let (settings, problems) = read_yaml_layers(
            &["sum: 2\nper: 0\n", "some: -1\nper: x\n", "- 1\n"],
            read_two_settings,
        );
        assert_eq!(settings, (1.0, 1.0));
        assert_eq!(
            problems,
            [
                "0.yaml:2:6: `evaluators.x.per` must be greater than 0",
                "0.yaml:1:1: unknown key `evaluators.x.sum`",
                "1.yaml:1:7: `evaluators.x.some` must not be negative, but is `-1`",
                "1.yaml:2:6: `evaluators.x.per` must be a number, not text",
                "2.yaml:1:1: `evaluators.x` must be a map of keys, not a list",
            ]
        );
    }
}

//! A chart in a page: its finding in words, the drawing, its key, and the table of its values.

use crate::render::chart::{Chart, Svg};
use crate::render::format;
use crate::render::table::ReportTable;
use crate::views::Arm;

use super::arm_links::link_arms;
use super::grid::Grid;
use super::routes::SiteRoutes;
use super::shell::Text;

/// Maximum number of rows of a chart's table. The data files have all.
pub(super) const MAX_ROWS: usize = 60;

/// One sign of a chart's key.
pub(super) struct LegendEntry {
    pub glyph: &'static str,
    pub class: &'static str,
    pub name: Text,
}

pub(super) struct ChartFigure {
    /// Anchor of the section, for links.
    pub anchor: String,
    pub heading: Text,
    pub title: Text,
    pub finding: Text,
    pub svg: Svg,
    pub key: Vec<LegendEntry>,
    pub notes: Vec<Text>,
    pub grid: Grid,
    /// Address of the CSV file with all values in full precision.
    pub csv: Option<String>,
    /// CSS class of the colour of the arm that the chart is about. Empty for charts about several arms.
    pub tone: &'static str,
    /// Address of the page that the heading is about. Empty without a link.
    pub href: String,
}

impl ChartFigure {
    pub fn new(anchor: &str, heading: impl Into<Text>, chart: Chart) -> Self {
        Self::with_max_rows(anchor, heading, chart, MAX_ROWS)
    }

    /// Shows a chart with `most` rows of its values.
    pub fn with_max_rows(
        anchor: &str,
        heading: impl Into<Text>,
        chart: Chart,
        most: usize,
    ) -> Self {
        let Chart {
            id,
            title,
            finding,
            svg,
            key,
            mut notes,
            table,
        } = chart;
        if table.rows.len() > most {
            let (some, all) = (
                format::format_integer(most as u64),
                format::format_integer(table.rows.len() as u64),
            );
            notes.push(format!(
                "The table has the first {some} of {all} rows; the JSON file of this page has all."
            ));
        }
        Self {
            anchor: anchor.to_owned(),
            heading: heading.into(),
            grid: value_grid(
                &table,
                &format!("{id}-values"),
                &format!("{title}: the values"),
                most,
            ),
            title: Text::from(title),
            finding: Text::from(finding),
            svg,
            key: key
                .into_iter()
                .map(|key| LegendEntry {
                    glyph: key.sign,
                    class: key.class,
                    name: Text::from(key.name),
                })
                .collect(),
            notes: notes.into_iter().map(Text::from).collect(),
            csv: None,
            tone: "",
            href: String::new(),
        }
    }

    /// Names the suite in the caption of the values. A page with this chart of several suites has a table of each.
    pub fn on_suite(mut self, suite: &str) -> Self {
        self.grid.caption = Text::from(format!("{} on {suite}: the values", self.title));
        self
    }

    /// Links the arms that the rows of the table are about.
    pub fn with_arm_links<'a>(
        mut self,
        arms: impl IntoIterator<Item = &'a Arm>,
        plan: &SiteRoutes,
        root: &str,
    ) -> Self {
        link_arms(&mut self.grid, 0, arms, plan, root);
        self
    }

    /// Draws the chart of one arm in its colour, with a link to its page.
    pub fn for_arm(self, arm: &Arm, plan: &SiteRoutes, root: &str) -> Self {
        Self {
            tone: plan.arm_tone(arm),
            href: plan.arm_href(root, arm),
            ..self
        }
    }

    pub fn with_csv(self, href: String) -> Self {
        Self {
            csv: Some(href),
            ..self
        }
    }
}

/// Lays out the first rows of a chart's values.
fn value_grid(table: &ReportTable, id: &str, caption: &str, most: usize) -> Grid {
    let mut grid = Grid::from_table(table, id, caption)
        .without_sorting()
        .fit_to_content();
    grid.rows.truncate(most);
    grid
}

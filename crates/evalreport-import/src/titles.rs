//! Names of columns in one header line or in two: with two, a name above several columns goes with the name below for each.

/// The lines that name the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeaderLines {
    /// Position of the first among non-blank lines, from 1.
    pub line: u64,
    /// Number of lines, 1 or 2.
    pub lines: u64,
}

impl Default for HeaderLines {
    fn default() -> Self {
        Self { line: 1, lines: 1 }
    }
}

impl HeaderLines {
    /// Finds the header from the number of filled cells of each line. `lines` are the lines' cells.
    pub fn from_lines(filled: &[usize], lines: &[Vec<String>]) -> Self {
        const MAX_EXAMINED_LINES: usize = 20;
        // The corner above the rows' names is often blank.
        let corner = |line: Option<&Vec<String>>| {
            usize::from(
                line.and_then(|line| line.first())
                    .is_some_and(|cell| cell.trim().is_empty()),
            )
        };
        // A title beside a blank corner, above names and figures, is no title of the whole.
        let is_pair = |line: Option<&Vec<String>>| {
            line.is_some_and(|line| {
                matches!(line.as_slice(), [corner, title]
                    if corner.trim().is_empty() && title.trim().parse::<f64>().is_err())
            })
        };
        let with_corner = |(place, filled): (usize, &usize)| {
            if *filled < 2 && !is_pair(lines.get(place)) {
                *filled
            } else {
                filled + corner(lines.get(place))
            }
        };
        let filled: Vec<usize> = filled.iter().enumerate().map(with_corner).collect();
        let most = filled.iter().copied().max().unwrap_or(0);
        // Titles and notes above the header fill fewer cells.
        let place = filled
            .iter()
            .take(MAX_EXAMINED_LINES)
            .position(|filled| *filled * 10 >= most * 7 && *filled > 0)
            .unwrap_or(0);
        // A line with a name for several columns has fewer cells, too.
        let two = [place.checked_sub(1), Some(place)]
            .into_iter()
            .flatten()
            .find(|first| has_two_header_lines(lines.get(*first..).unwrap_or_default()));
        Self {
            line: two.unwrap_or(place) as u64 + 1,
            lines: 1 + u64::from(two.is_some()),
        }
    }

    /// Returns the columns' names from the header's lines. A first column without a name gets one, because it often names the rows.
    pub fn column_names(lines: &[Vec<String>]) -> Vec<String> {
        const UNNAMED_FIRST_COLUMN: &str = "column 1";
        let mut names = match lines {
            [upper, lower] => join_names(upper, lower),
            lines => lines.first().cloned().unwrap_or_default(),
        };
        let is_free = !names.iter().any(|name| name == UNNAMED_FIRST_COLUMN);
        if let Some(first) = names.first_mut().filter(|name| name.is_empty() && is_free) {
            UNNAMED_FIRST_COLUMN.clone_into(first);
        }
        names
    }
}

/// Puts the names above and below together. A name above counts for all columns up to the next one.
fn join_names(upper: &[String], lower: &[String]) -> Vec<String> {
    let cell = |line: &[String], place: usize| {
        line.get(place)
            .map_or_else(String::new, |cell| cell.trim().to_owned())
    };
    let mut above = String::new();
    let mut names = Vec::new();
    for place in 0..upper.len().max(lower.len()) {
        let (own, below) = (cell(upper, place), cell(lower, place));
        if !own.is_empty() || below.is_empty() {
            above = own;
        }
        names.push(if above.is_empty() || below.is_empty() {
            format!("{above}{below}")
        } else {
            format!("{above} {below}")
        });
    }
    names
}

/// Returns whether the first two lines name the columns together: the names below are repeated, each below several names above, and no
/// column has its own name again as a value. A table with one header line has no such names.
fn has_two_header_lines(lines: &[Vec<String>]) -> bool {
    let [upper, lower, rest @ ..] = lines else {
        return false;
    };
    let names = join_names(upper, lower);
    let is_filled = |cell: &&String| !cell.trim().is_empty();
    let parts: Vec<(&str, &str)> = names
        .iter()
        .zip(lower)
        .filter_map(|(name, below)| split_joined_name(name, below))
        .collect();
    let above = distinct_names(parts.iter().map(|(above, _)| *above));
    let below = distinct_names(parts.iter().map(|(_, below)| *below));
    let is_table = rest.len() >= 2 && above.len() >= 2 && parts.len() == above.len() * below.len();
    let filled: Vec<&String> = names.iter().filter(is_filled).collect();
    let are_unique = distinct_names(filled.iter().map(|name| name.as_str())).len() == filled.len();
    let is_value = |line: &[String], place: usize| {
        line.get(place)
            .is_some_and(|cell| cell.trim().parse::<f64>().is_ok())
    };
    let again = |line: &[String], place: usize| {
        line.get(place).is_some_and(|cell| {
            is_filled(&cell) && rest.iter().any(|row| row.get(place) == Some(cell))
        })
    };
    let is_body =
        |place: usize| is_value(lower, place) || again(lower, place) || again(upper, place);
    is_table && below.len() >= 2 && are_unique && !(0..names.len()).any(is_body)
}

/// Returns the parts of a name that has two.
fn split_joined_name<'n>(name: &'n str, below: &str) -> Option<(&'n str, &'n str)> {
    let below = below.trim();
    let above = name.strip_suffix(below)?.strip_suffix(' ')?;
    (!below.is_empty() && !above.is_empty()).then(|| (above, &name[above.len() + 1..]))
}

fn distinct_names<'n>(names: impl Iterator<Item = &'n str>) -> std::collections::BTreeSet<&'n str> {
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Vec<String>> {
        text.lines()
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect()
    }

    fn header(text: &str) -> (u64, u64) {
        let lines = lines(text);
        let filled: Vec<usize> = lines
            .iter()
            .map(|line| line.iter().filter(|cell| !cell.is_empty()).count())
            .collect();
        let HeaderLines { line, lines } = HeaderLines::from_lines(&filled, &lines);
        (line, lines)
    }

    #[test]
    fn two_header_lines_are_found() {
        let rows = "t1,1,2.5,0,3.5\nt2,0,2.1,1,3.0\n";
        assert_eq!(
            header(&format!(
                ",nova,nova,lyra,lyra\n,passed,cost,passed,cost\n{rows}"
            )),
            (1, 2)
        );
        assert_eq!(
            header(&format!(
                "Task,nova,,lyra,\n,passed,cost,passed,cost\n{rows}"
            )),
            (1, 2),
            "merged cells"
        );
        assert_eq!(
            header(&format!(
                "Results,,,,\nTask,nova,,lyra,\n,passed,cost,passed,cost\n{rows}"
            )),
            (2, 2),
            "below a title"
        );
        let [upper, lower] = [
            ["Task", "nova", "", "lyra", ""],
            ["", "passed", "cost", "passed", "cost"],
        ];
        let names =
            HeaderLines::column_names(&[upper, lower].map(|line| line.map(str::to_owned).to_vec()));
        assert_eq!(
            names,
            [
                "Task",
                "nova passed",
                "nova cost",
                "lyra passed",
                "lyra cost"
            ]
        );
    }

    #[test]
    fn a_blank_corner_belongs_to_the_header() {
        assert_eq!(header(",nova,lyra\nt1,1,0\nt2,0,1\n"), (1, 1));
        assert_eq!(header("Results,,\n,nova,lyra\nt1,1,0\nt2,0,1\n"), (2, 1));
        assert_eq!(header(",accuracy\na,0.85\nb,0.80\n"), (1, 1));
        let names = |line: &[&str]| {
            HeaderLines::column_names(&[line.iter().map(|name| (*name).to_owned()).collect()])
        };
        assert_eq!(names(&["", "nova", ""]), ["column 1", "nova", ""]);
        assert_eq!(names(&["", "column 1"]), ["", "column 1"]);
    }

    #[test]
    fn one_header_line_is_never_taken_for_two() {
        for text in [
            "task,nova,lyra\nt1,pass,fail\nt2,fail,pass\n",
            // Names that several columns have, above a row of words.
            "model,verdict,verdict\nnova,pass,fail\nlyra,fail,pass\n",
            "model,item,score,score\nnova,i0,0.3,1\nnova,i1,0.4,0\nlyra,i0,0.2,1\n",
            // Words that no other row has.
            "task,answer,answer,right\nt1,Paris,Rome,yes\nt2,Bonn,Bern,no\nt3,Oslo,Riga,no\n",
            // The first row repeats the same two words by chance.
            "task,a,a,b,b\nt1,x,y,x,y\nt2,x,y,y,x\nt3,y,x,x,y\n",
            // Two tables side by side of different columns.
            "nova,,,lyra,\ntask,passed,,case,solved\nt1,1,,t1,0\nt2,0,,t2,1\n",
        ] {
            assert_eq!(header(text).1, 1, "{text}");
        }
    }
}

//! Filters of tables: what rows stay, by the table of filters beside this file.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::kept;

/// Pages, tables, filters, and the rows that stay. The numbers are counted in the shipped results, not on the pages.
const FILTERS: &str = include_str!("filters.csv");

#[test]
fn filters_compare_values_with_their_units() {
    needs!("chromium", "chromedriver");
    let site = kept::shipped();
    let browser = Browser::start();
    let mut read = csv::Reader::from_reader(FILTERS.as_bytes());
    let rows: Vec<(String, String, String, u64)> = read
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("four columns");
    assert!(rows.len() >= 60, "{} filters", rows.len());
    let mut page = String::new();
    let mut wrong = Vec::new();
    for (path, table, filter, expected) in rows {
        if page != path {
            browser.open(&site.path(&format!("site/{path}")));
            page.clone_from(&path);
        }
        let shown = browser.evaluate(&format!(
            "const field = document.getElementById('filter-{table}'); field.value = {}; field.dispatchEvent(new Event('input'));
             const said = field.parentNode.querySelector('[role=status]').textContent;
             return [document.querySelectorAll('#{table} tbody tr:not([hidden])').length, Number(said.split(' ')[0])]",
            json!(filter)
        ));
        if shown != json!([expected, expected]) {
            wrong.push(format!("{path} {filter}: {shown}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A state above the overview hides rows, and the count says so.
#[test]
fn states_and_words_share_one_count() {
    needs!("chromium", "chromedriver");
    let site = kept::shipped();
    let browser = Browser::start();
    browser.open(&site.path("site/index.html"));
    let chips = "return [...document.querySelectorAll('.counts .chip')].map(chip => [chip.querySelector('.state').textContent.trim(), Number(chip.querySelector('strong').textContent)])";
    let Value::Array(chips) = browser.evaluate(chips) else {
        panic!("no chips")
    };
    assert!(chips.len() > 2, "{chips:?}");
    for (at, chip) in chips.iter().enumerate() {
        let script = format!(
            "const chip = document.querySelectorAll('.counts .chip')[{at}]; chip.click();
             const said = document.querySelector('.above [role=status]').textContent;
             const seen = [...document.querySelectorAll('#suites tbody tr')].filter(row => row.getBoundingClientRect().height > 0).length;
             chip.click(); return [Number(said.split(' ')[0]), seen]"
        );
        // Suites with nothing to compare are folded below the table.
        let expected = if chip[0] == "nothing to compare" {
            json!(0)
        } else {
            chip[1].clone()
        };
        assert_eq!(
            browser.evaluate(&script),
            json!([expected, expected]),
            "{chip}"
        );
    }
}

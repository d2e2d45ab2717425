//! A part of data beside the pages, as a script that passes it to the page: a page opened from disk can load nothing else.

use serde::Serialize;

use super::SiteFile;

/// Returns the path of a part.
pub(super) fn file_path(name: &str, number: usize) -> String {
    format!("d/{name}-{number}.js")
}

pub(super) fn script_file(name: &str, number: usize, content: &impl Serialize) -> SiteFile {
    SiteFile {
        path: file_path(name, number),
        bytes: call_script(name, number, content).into_bytes(),
    }
}

/// Makes the script that hands the tables of `stem` to a page that copies them.
pub(super) fn tables_script(stem: &str, csv: &str, markdown: &str) -> SiteFile {
    #[derive(Serialize)]
    struct CopiedTables<'a> {
        csv: &'a str,
        markdown: &'a str,
    }
    SiteFile {
        path: format!("{stem}.js"),
        bytes: call_script("tables", 0, &CopiedTables { csv, markdown }).into_bytes(),
    }
}

fn call_script(name: &str, number: usize, content: &impl Serialize) -> String {
    let json = serde_json::to_string(content).expect("texts and numbers can be written");
    // A JSON string is also a valid string in scripts. Browsers parse JSON faster than a literal.
    format!(
        "evalreportShard(\"{name}\",{number},JSON.parse({}));\n",
        script_literal(&json)
    )
}

/// Writes a text as a string of a script. Escapes `<`, which could end the script or begin a comment.
pub(super) fn script_literal(text: &str) -> String {
    let literal = serde_json::to_string(text).expect("a text can be written");
    literal
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

//! Reads the tests of a JUnit report, under the ids that their runner uses.

use crate::domain::ItemStatus;
use crate::junit::{self, JunitCase, JunitEvent, JunitHalt};

use super::collect::OutcomeCollector;
use super::output::truncate_name;

/// Number of bytes of a report that are read.
pub const MAX_BYTES: u64 = 64 << 20;

/// Adds the tests of a report. With `is_python`, ids have pytest's own form (`file::Class::test[parameter]`). If the report is truncated,
/// the tests up to that point are kept, and a row says that the report breaks off.
pub fn read_tests(bytes: &[u8], is_python: bool, tests: &mut OutcomeCollector) {
    let most = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
    let kept = &bytes[..bytes.len().min(most)];
    let halt = junit::walk_report(kept, &|| (), &mut |told| {
        if let JunitEvent::Case(case) = told {
            add_case(&case, is_python, tests);
        }
        Ok::<(), ()>(())
    });
    let problem = match halt {
        _ if bytes.len() > most => {
            "the report is larger than 64 MiB; the rest was not read".to_owned()
        }
        Ok(()) | Err(JunitHalt::Told(())) => return,
        Err(JunitHalt::CutOff) => format!("the report {}", junit::CUT_OFF),
        Err(JunitHalt::Damaged(message)) => format!("the report {message}"),
    };
    tests.push("(report)", ItemStatus::Error, None, Some(&problem));
}

fn add_case(case: &JunitCase, is_python: bool, tests: &mut OutcomeCollector) {
    let file = Some(case.file()).filter(|file| !file.is_empty());
    let id = if is_python {
        python_id(file, case.class(), case.name())
    } else {
        case_id(case, file)
    };
    let message = case.counted_try().reason();
    // pytest reports a failed teardown after a failed test as a second case of the same name.
    let is_second_part = is_python
        && case.status() == ItemStatus::Error
        && message
            .as_deref()
            .is_some_and(|message| message.starts_with("failed on teardown"));
    if is_second_part {
        tests.push_or_worsen(&id, case.status(), case.seconds(), message.as_deref());
    } else {
        tests.push(&id, case.status(), case.seconds(), message.as_deref());
    }
}

/// Returns `class::name`, or the suites' names with the test's name if the class is not informative.
fn case_id(case: &JunitCase, file: Option<&str>) -> String {
    let (class, name) = (case.class(), case.name());
    let named: Vec<&str> = case
        .suites()
        .iter()
        .map(|suite| truncate_name(suite))
        .collect();
    match (file, class) {
        (Some(file), "") => format!("{file}::{name}"),
        // Node writes this class for every test.
        (None, "" | "test") if !named.is_empty() => format!("{} > {name}", named.join(" > ")),
        (_, "" | "test") => name.to_owned(),
        (_, class) if name.is_empty() => class.to_owned(),
        (_, class) => format!("{class}::{name}"),
    }
}

/// Returns pytest's own id of a case. The class name joins the file and the classes by dots. The `file` attribute separates them if it
/// exists; otherwise names do: modules are `test_*` or `*_test`.
fn python_id(file: Option<&str>, class: &str, name: &str) -> String {
    if class.is_empty() {
        // A file that could not be collected has no class.
        let path = file.map_or_else(|| format!("{}.py", name.replace('.', "/")), str::to_owned);
        return if file.is_none() && name.contains('[') {
            name.to_owned()
        } else {
            path
        };
    }
    let parts: Vec<&str> = class.split('.').collect();
    let from_file = file.map(|file| file.replace('\\', "/")).and_then(|file| {
        let module = file
            .strip_suffix(".py")?
            .split('/')
            .filter(|part| !part.is_empty())
            .count();
        let dotted = file.strip_suffix(".py")?.replace('/', ".");
        (class == dotted || class.starts_with(&format!("{dotted}."))).then_some(module)
    });
    let is_module = |part: &&str| part.starts_with("test_") || part.ends_with("_test");
    let by_name = || parts.iter().rposition(is_module).map(|index| index + 1);
    let first_class = || {
        parts
            .iter()
            .position(|part| part.starts_with(char::is_uppercase))
            .filter(|index| *index > 0)
    };
    let length = from_file
        .or_else(by_name)
        .or_else(first_class)
        .unwrap_or(parts.len())
        .min(parts.len());
    let (module, classes) = parts.split_at(length);
    let mut id = format!("{}.py", module.join("/"));
    for part in classes.iter().chain([&name]) {
        id.push_str("::");
        id.push_str(part);
    }
    id
}

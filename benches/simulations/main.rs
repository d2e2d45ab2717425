//! How the methods and the verdict's rule behave where the truth is known, because it was made up.
//!
//! `cargo bench --bench simulations` prints the tables of `docs/understand/method.md` as Markdown, the same ones every time. Each figure is a
//! share of simulated worlds; with 10,000 of them, a true 5% shows as 4.6% to 5.4%. With a store of real outcomes,
//! `-- --store DIR --suite NAME` prints instead how often winners stay winners; `-- --matrix FILE` replays a table of system, suite, item,
//! passed and perhaps cluster, as `-- foreseen` does with made arms. The name of a part, such as `-- decisions`, prints only its tables.
//!
//! All of it takes about twenty minutes of processor time, once it is compiled. A release build compiles for 20 minutes; with our own code
//! optimised alone it is 5 to 8: `cargo bench --bench simulations --profile dev --config 'profile.dev.package.evalreport.opt-level=3'`, with
//! two more such options for `statrs` and `rand_chacha`, which draw and evaluate what is simulated.
#![expect(
    clippy::print_stdout,
    reason = "a program for a person who reads its tables"
)]

mod abilities;
mod bisection;
mod boards;
mod calibration;
mod claims;
mod courses;
mod coverage;
mod decisions;
mod evidence;
mod false_winners;
mod families;
mod foreseen;
mod gates;
mod half_lives;
mod histories;
mod horizons;
mod judges;
mod noise;
mod open_regressions;
mod planned;
mod power;
mod preferences;
mod pull_requests;
mod rank_sets;
mod replication;
mod rule;
mod runs_vary;
mod suites;
mod world;

type Part = fn() -> Vec<Table>;

/// Tables that can be printed alone, by name.
const PARTS: [(&str, Part); 21] = [
    ("abilities", || vec![abilities::coverage()]),
    ("bisection", || vec![bisection::commits_found()]),
    ("boards", || boards::tables().into()),
    ("calibration", || vec![calibration::stated_probabilities()]),
    ("claims", || vec![claims::found()]),
    ("courses", || {
        vec![courses::breaks_told(), courses::flaky_items()]
    }),
    ("decisions", || decisions::tables().into()),
    ("evidence", || {
        vec![evidence::one_program(), evidence::constant_costs()]
    }),
    ("foreseen", || {
        vec![
            foreseen::made(),
            foreseen::clusters(),
            foreseen::several(),
            foreseen::tasks(),
        ]
    }),
    ("gates", || {
        vec![
            gates::false_alarms(),
            gates::correlated(),
            gates::drops_found(),
        ]
    }),
    ("half-lives", || vec![half_lives::recovered()]),
    ("horizons", || vec![horizons::coverage()]),
    ("histories", || histories::tables().into()),
    ("judges", || judges::tables().into()),
    ("noise", || {
        vec![noise::components(), noise::limits(), noise::conditions()]
    }),
    ("open-regressions", || open_regressions::tables().into()),
    ("planned", || {
        vec![planned::promises(), planned::asked_for()]
    }),
    ("preferences", || vec![preferences::coverage()]),
    ("pull-requests", || vec![pull_requests::recipe()]),
    ("rank-sets", || vec![rank_sets::coverage()]),
    ("suites", || vec![suites::as_sample(), suites::within()]),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        arguments
            .iter()
            .position(|argument| argument == name)
            .and_then(|place| arguments.get(place + 1))
    };
    if let (Some(store), Some(suite)) = (value("--store"), value("--suite")) {
        replication::table(std::path::Path::new(store), suite).print();
        return;
    }
    if let Some(path) = value("--matrix") {
        foreseen::replayed(std::path::Path::new(path))
            .iter()
            .for_each(Table::print);
        return;
    }
    let named = |(name, _): &&(&str, Part)| arguments.iter().any(|argument| argument == name);
    if let Some((_, tables)) = PARTS.iter().find(named) {
        tables().iter().for_each(Table::print);
        return;
    }
    println!("## Coverage of intervals that promise 95 %\n");
    coverage::one_share().print();
    coverage::two_shares().print();
    coverage::paired_shares().print();
    coverage::rates_of_runs().print();
    coverage::ratios_of_amounts().print();
    coverage::bills().print();
    coverage::prices().print();
    coverage::clusters().print();
    coverage::bootstrap().print();
    coverage::every_night().print();
    rank_sets::coverage().print();
    for table in boards::tables() {
        table.print();
    }
    calibration::stated_probabilities().print();
    println!("## Judges corrected by people's labels\n");
    for table in judges::tables() {
        table.print();
    }
    suites::as_sample().print();
    suites::within().print();
    preferences::coverage().print();
    horizons::coverage().print();
    abilities::coverage().print();
    println!("## Families with a winner where there is no difference\n");
    false_winners::paired_items().print();
    false_winners::repeated_items().print();
    false_winners::runs().print();
    false_winners::clusters().print();
    false_winners::amounts().print();
    false_winners::nights().print();
    runs_vary::false_winners().print();
    runs_vary::crashes().print();
    runs_vary::clustered().print();
    runs_vary::totals().print();
    families::clusters().print();
    println!("## Histories\n");
    for table in histories::tables() {
        table.print();
    }
    println!("## Noise\n");
    noise::components().print();
    noise::limits().print();
    noise::conditions().print();
    half_lives::recovered().print();
    println!("## A gate over nights\n");
    gates::false_alarms().print();
    gates::correlated().print();
    gates::drops_found().print();
    for table in open_regressions::tables() {
        table.print();
    }
    println!("## Broken or flaky\n");
    courses::breaks_told().print();
    courses::flaky_items().print();
    pull_requests::recipe().print();
    println!("## Decisions\n");
    for table in decisions::tables() {
        table.print();
    }
    evidence::one_program().print();
    evidence::constant_costs().print();
    println!("## Published figures\n");
    claims::found().print();
    println!("## Differences that are found\n");
    runs_vary::bound().print();
    runs_vary::power().print();
    planned::promises().print();
    planned::asked_for().print();
    foreseen::made().print();
    foreseen::clusters().print();
    foreseen::several().print();
    foreseen::tasks().print();
    power::rates().print();
    power::clusters().print();
    power::amounts().print();
}

/// A table of shares, with its words.
struct Table {
    title: &'static str,
    /// What the first columns say, and then what each method is called.
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(title: &'static str, columns: &[&'static str]) -> Self {
        Self {
            title,
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    fn row(&mut self, case: &[String], shares: &[world::Share]) {
        self.rows.push(
            case.iter()
                .cloned()
                .chain(shares.iter().map(world::Share::percent))
                .collect(),
        );
    }

    fn print(&self) {
        println!("**{}**\n", self.title);
        println!("| {} |", self.columns.join(" | "));
        println!("|{}", " --- |".repeat(self.columns.len()));
        for row in &self.rows {
            println!("| {} |", row.join(" | "));
        }
        println!();
    }
}

// The action's one step that thinks: installs the program, finds the baseline, runs the gate, and says the answer in the log, the job's
// summary, the pull request and the outputs. It always ends with 0; the action's last step ends with the gate's exit code.

import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { packageFacts, repository as ownRepository } from "../packaging/facts.mjs";
import { GitHub, Refused } from "./github.mjs";
import { install } from "./install.mjs";
import { cut, fenced, find, linesOf, oneLine } from "./text.mjs";
import { unzip } from "./unzip.mjs";

const MARKER = "<!-- evalreport:gate -->";
const LONGEST_COMMENT = 65_536;
const LONGEST_SUMMARY = 1_048_576;
const UNKNOWN = "unknown";
const CODE = { pass: 0, regression: 1, unusable: 2, inconclusive: 3 };

const own = dirname(dirname(fileURLToPath(import.meta.url)));
const inputs = JSON.parse(process.env.EVALREPORT_INPUTS ?? "{}");
const input = (name) => String(inputs[name] ?? "").trim();
const isOn = (name) => input(name) !== "false" && input(name) !== "";
// The programs that this one starts get no token, except git by name.
delete process.env.EVALREPORT_INPUTS;

const log = (text) => process.stdout.write(`${oneLine(text)}\n`);
const warn = (text) => process.stdout.write(`::warning title=evalreport::${oneLine(text).replaceAll("%", "%25")}\n`);

/** Prints foreign lines so that the runner takes none of them for a command. */
function quote(text) {
  if (text.trim() !== "") {
    const end = randomUUID();
    process.stdout.write(`::stop-commands::${end}\n${text.trimEnd()}\n::${end}::\n`);
  }
}

function output(name, value) {
  if (process.env.GITHUB_OUTPUT) {
    const end = randomUUID();
    appendFileSync(process.env.GITHUB_OUTPUT, `${name}<<${end}\n${value}\n${end}\n`);
  }
}

/** A problem that the user can solve. */
class Unusable extends Error {}

/** Returns what the event is about: the pull request's number if it is one of this repository. */
function pullRequest() {
  const path = process.env.GITHUB_EVENT_PATH;
  const event = path && existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const { pull_request: pull, repository } = event;
  const here = process.env.GITHUB_REPOSITORY ?? "";
  return {
    defaultBranch: repository?.default_branch ?? "main",
    number: pull && pull.base?.repo?.full_name === here && Number.isInteger(pull.number) ? pull.number : undefined,
    isElsewhere: Boolean(pull) && pull.base?.repo?.full_name !== here,
    isFork: Boolean(pull) && pull.head?.repo?.full_name !== here,
  };
}

/** Returns the path of the program, which it installs if none is given. */
async function program(work) {
  if (input("binary")) {
    const path = resolve(input("binary"));
    if (!existsSync(path)) {
      throw new Unusable(`no program at \`binary\`: ${path}`);
    }
    return path;
  }
  const repository = process.env.EVALREPORT_ACTION_REPOSITORY || ownRepository();
  const version = (input("version") || packageFacts().version).replace(/^v/, "");
  if (!/^[0-9A-Za-z.+-]+$/.test(version)) {
    throw new Unusable("`version` is not a version, such as 0.1.0");
  }
  const server = process.env.GITHUB_SERVER_URL ?? "https://github.com";
  const release = process.env.EVALREPORT_RELEASE_URL || (repository && `${server}/${repository}/releases/download/v${version}`);
  if (!release) {
    throw new Unusable("the action does not know its repository: give a program's path as `binary`");
  }
  log(`installing evalreport ${version}`);
  return install({ release, version, folder: join(work, "program"), repository, token: input("token"), log }).catch((error) => {
    throw new Unusable(error.message);
  });
}

/** Returns the word for `--baseline`, or `undefined` if no baseline is asked for. */
async function baseline(work, api, event) {
  const asked = ["baseline", "baseline-branch", "baseline-artifact"].filter((name) => input(name));
  if (asked.length > 1) {
    throw new Unusable(`give one of ${asked.map((name) => `\`${name}\``).join(" and ")}, not several`);
  }
  if (input("baseline-branch")) {
    return branch(join(work, "branch"), input("baseline-branch"));
  }
  if (input("baseline-artifact")) {
    return artifact(join(work, "artifact"), input("baseline-artifact"), api, event);
  }
  return input("baseline") || undefined;
}

/** Fetches a branch of this repository. A branch that is not there is an error: nobody could tell a misspelt name from a pass. */
function branch(folder, name) {
  const path = resolve(folder, input("baseline-path"));
  if (path !== folder && !path.startsWith(`${folder}/`) && !path.startsWith(`${folder}\\`)) {
    throw new Unusable("`baseline-path` leads out of the branch");
  }
  const server = process.env.GITHUB_SERVER_URL ?? "https://github.com";
  const credentials = input("token") && {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${server}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${input("token")}`).toString("base64")}`,
  };
  const git = (...words) =>
    spawnSync("git", words, {
      encoding: "utf8",
      env: { ...process.env, ...credentials, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" },
    });
  git("init", "--quiet", folder);
  const got = git("-C", folder, "fetch", "--quiet", "--depth=1", "--no-tags", `${server}/${process.env.GITHUB_REPOSITORY}`, `refs/heads/${name}`);
  if (got.status !== 0) {
    quote(got.stderr ?? "");
    if (/couldn't find remote ref/.test(got.stderr ?? "")) {
      throw new Unusable(`no baseline: the repository has no branch ${name}`);
    }
    throw new Unusable(`cannot fetch the branch ${name}; the log has git's words`);
  }
  const taken = git("-C", folder, "-c", "core.symlinks=false", "checkout", "--quiet", "--detach", "FETCH_HEAD");
  if (taken.status !== 0) {
    quote(taken.stderr ?? "");
    throw new Unusable(`cannot check out the branch ${name}; the log has git's words`);
  }
  if (!existsSync(path)) {
    throw new Unusable(`no baseline: the branch ${name} has no ${input("baseline-path")}`);
  }
  return path;
}

/** Downloads the newest artifact of a branch's workflow runs. Runs of forks are not ours, whatever their branch is called. */
async function artifact(folder, name, api, event) {
  const from = input("baseline-artifact-branch") || event.defaultBranch;
  const repository = process.env.GITHUB_REPOSITORY;
  try {
    let found;
    for (let page = 1; page <= 20 && !found; page += 1) {
      const { artifacts } = await api.read(`/repos/${repository}/actions/artifacts?name=${encodeURIComponent(name)}&per_page=100&page=${page}`);
      found = artifacts.find(
        ({ expired, workflow_run: run }) => !expired && run?.head_branch === from && run.head_repository_id === run.repository_id
      );
      if (artifacts.length < 100) {
        break;
      }
    }
    if (!found) {
      throw new Unusable(`no baseline: no workflow run of the branch ${from} has left an artifact ${name} that is still kept`);
    }
    const files = unzip(await api.bytes(`/repos/${repository}/actions/artifacts/${Number(found.id)}/zip`), folder);
    return files.length === 1 ? files[0] : folder;
  } catch (error) {
    if (error instanceof Unusable) {
      throw error;
    }
    const hint = error instanceof Refused && error.isRights ? "; the job needs the permission `actions: read`" : "";
    throw new Unusable(`cannot download the artifact ${name}: ${error.message}${hint}`);
  }
}

/** Returns the files that `results` names. */
function results() {
  return linesOf(input("results")).flatMap((pattern) => {
    const found = find(pattern);
    if (found.length === 0) {
      throw new Unusable(`no file fits \`results\`: ${oneLine(pattern)}`);
    }
    // With a folder in front, a name is not taken for an option or a suite.
    return found.map((path) => (/^([./\\]|[A-Za-z]:)/.test(path) ? path : `./${path}`));
  });
}

function gateWords(paths, against) {
  const option = (name, words) => words.map((word) => `--${name}=${word}`);
  const given = (name) => (input(name) ? [input(name)] : []);
  return [
    "gate",
    ...option("results", linesOf(input("store"))),
    ...(against === undefined ? [] : [`--baseline=${against}`]),
    ...option("max-drop", given("max-drop")),
    ...option("max-cost", given("max-cost")),
    ...option("must-pass", linesOf(input("must-pass"))),
    ...(input("no-new-failures") === "true" ? ["--no-new-failures"] : []),
    ...option("on-inconclusive", given("on-inconclusive")),
    ...linesOf(input("arguments")),
    ...paths,
  ];
}

/** Runs the program with its output in a file. */
function run(path, words, file) {
  const target = openSync(file, "w");
  try {
    const got = spawnSync(path, words, { stdio: ["ignore", target, "pipe"], encoding: "utf8", maxBuffer: 1 << 26 });
    if (got.error) {
      throw new Unusable(`cannot start ${path}: ${got.error.message}`);
    }
    return { code: got.status ?? CODE.unusable, stderr: got.stderr ?? "" };
  } finally {
    closeSync(target);
  }
}

/** Runs the gate. Returns its exit code, the report and the comment. */
function gate(path, words, work) {
  const [json, markdown] = [join(work, "gate.json"), join(work, "gate.md")];
  const junit = input("junit") ? [`--junit=${input("junit")}`] : [];
  const got = run(path, ["--format=json", ...words, ...junit, `--markdown=${markdown}`], json);
  quote(got.stderr);
  if (![CODE.pass, CODE.regression, CODE.inconclusive].includes(got.code)) {
    throw Object.assign(new Unusable("the gate could not run"), { code: got.code, details: got.stderr });
  }
  return { code: got.code, json, report: JSON.parse(readFileSync(json, "utf8")), markdown: readFileSync(markdown, "utf8") };
}

const sameArm = (one, two) => one?.suite === two?.suite && one?.arm.approach === two?.arm.approach && one?.arm.model === two?.arm.model;

/** Returns the mean cost of a new run of the deciding check's arm. */
function cost({ checks, deciding, costs = [] }) {
  return costs.find((spent) => sameArm(spent, checks[deciding]))?.head.value;
}

/** Builds the site of the new runs. Without it the gate holds all the same. */
function site(path, paths, work) {
  const folder = join(work, "site");
  const words = ["build", ...linesOf(input("store")).map((store) => `--results=${store}`), `--out=${folder}`, ...paths];
  const got = run(path, ["--quiet", ...words], join(work, "site.txt"));
  if (got.code !== 0) {
    quote(got.stderr);
    warn("the site could not be built; the log says why");
    return "";
  }
  return folder;
}

/** Where the whole answer is, for a comment that has a part. */
function summaryLink() {
  const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id } = process.env;
  const attempt = process.env.GITHUB_RUN_ATTEMPT ?? "1";
  return `${server}/${repository}/actions/runs/${id}/attempts/${attempt}`;
}

/** Writes the comment, if the event has a pull request and the token may. Never fails the job. */
async function comment(api, event, markdown) {
  if (!isOn("comment")) {
    return "none";
  }
  if (event.number === undefined) {
    log(event.isElsewhere ? "no comment: the pull request is of another repository" : "no comment: the event is not a pull request");
    return "none";
  }
  if (!input("token")) {
    log("no comment: there is no token");
    return "none";
  }
  const key = input("comment-key");
  const first = key ? `${MARKER}\n<!-- key: ${key} -->\n` : `${MARKER}\n`;
  const body = cut(`${first}${markdown}`, LONGEST_COMMENT, `This comment is cut. [The job's summary](${summaryLink()}) has the whole.`);
  const begins = (text) => text.startsWith(first) && (key !== "" || !text.startsWith(`${MARKER}\n<!-- key: `));
  try {
    const done = await api.comment(process.env.GITHUB_REPOSITORY, event.number, body, { author: input("comment-author"), begins });
    log(`comment ${done}`);
    return done;
  } catch (error) {
    if (error instanceof Refused && error.isRights) {
      const why = event.isFork ? "the pull request comes from a fork, so the token may not comment" : "the token may not comment";
      const hint = event.isFork ? "" : "; the job needs the permission `pull-requests: write`";
      warn(`no comment: ${why} (${error.message})${hint}. The job's summary has the answer.`);
    } else {
      warn(`no comment: ${error.message}. The job's summary has the answer.`);
    }
    return "none";
  }
}

function summarise(markdown) {
  if (process.env.GITHUB_STEP_SUMMARY) {
    const size = (text) => Buffer.byteLength(text);
    appendFileSync(process.env.GITHUB_STEP_SUMMARY, cut(markdown, LONGEST_SUMMARY, "This summary is cut: it was longer than 1 MiB.", size));
  }
}

/** Says in Markdown why there is no answer. */
function apology(error) {
  const details = error.details ?? error.message;
  return `### Gate: error\n\nThe gate could not run, so it says nothing about the new runs.\n\n${fenced(details)}\n`;
}

async function main() {
  const work = mkdtempSync(join(process.env.RUNNER_TEMP || tmpdir(), "evalreport-"));
  mkdirSync(work, { recursive: true });
  const event = pullRequest();
  const api = new GitHub({ api: process.env.GITHUB_API_URL ?? "https://api.github.com", token: input("token"), log });
  let markdown;
  const said = { verdict: "error", "exit-code": CODE.unusable, difference: UNKNOWN, scale: UNKNOWN, interval: UNKNOWN, cost: UNKNOWN };
  try {
    if (!/^[A-Za-z0-9._-]*$/.test(input("comment-key"))) {
      inputs["comment-key"] = "";
      throw new Unusable("`comment-key` has other characters than letters, digits, `.`, `_` and `-`");
    }
    process.chdir(resolve(process.env.GITHUB_WORKSPACE || ".", input("working-directory") || "."));
    const path = await program(work);
    const paths = results();
    const words = gateWords(paths, await baseline(work, api, event));
    const { code, json, report, markdown: answer } = gate(path, words, work);
    markdown = answer.startsWith(`${MARKER}\n`) ? answer.slice(MARKER.length + 1) : answer;
    const difference = report.checks[report.deciding]?.evidence?.difference;
    // The interval of a check that something else decided would contradict its verdict.
    const isDecisive = ["interval", "too_wide"].includes(report.checks[report.deciding]?.basis);
    const interval = isDecisive ? difference?.interval : undefined;
    // An older program does not say what it looked at.
    quote((report.looked_at_sentences ?? []).join("\n"));
    Object.assign(said, {
      verdict: report.ruling,
      "exit-code": code,
      difference: difference?.value ?? UNKNOWN,
      scale: difference?.scale ?? UNKNOWN,
      interval: interval ? JSON.stringify([interval.low, interval.high]) : UNKNOWN,
      cost: cost(report) ?? UNKNOWN,
      report: json,
    });
    if (isOn("site")) {
      said.site = site(path, paths, work);
    }
  } catch (error) {
    said["exit-code"] = Number.isInteger(error.code) && error.code > 0 ? error.code : CODE.unusable;
    markdown = apology(error);
    process.stdout.write(`::error title=evalreport::${oneLine(error.message).replaceAll("%", "%25")}\n`);
  }
  summarise(markdown);
  said.comment = await comment(api, event, markdown);
  for (const [name, value] of Object.entries(said)) {
    output(name, value);
  }
  log(`gate: ${said.verdict}, exit code ${said["exit-code"]}`);
}

await main();

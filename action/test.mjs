// Runs the action's entry point with made-up events against a stand-in of GitHub's API on the loopback.
//
//   EVALREPORT_BINARY=PATH node --test action/test.mjs

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

import { packageFacts } from "../packaging/facts.mjs";
import { cut, fenced, find } from "./text.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const binary = process.env.EVALREPORT_BINARY;
assert.ok(binary && existsSync(binary), "EVALREPORT_BINARY names the program to test");
const root = mkdtempSync(join(tmpdir(), "evalreport-action-test-"));
after(() => rmSync(root, { recursive: true, force: true }));

const MARKER = "<!-- evalreport:gate -->";
const BOT = { login: "github-actions[bot]" };
const TOKEN = "ghs_secretsecretsecret";
let count = 0;

/** Writes three reports of test runs. The first `failing` of 60 tests fail, in later runs one more each. */
function reports(folder, failing, day, { name = "t", total = 60, reason = "expected 1" } = {}) {
  mkdirSync(folder, { recursive: true });
  for (const run of [0, 1, 2]) {
    const cases = Array.from({ length: total }, (_, at) => {
      const failure = at < failing + (failing > 0 ? run : 0) ? `<failure message="${reason}"/>` : "";
      return `<testcase classname="c" name="${name}${at}" time="1">${failure}</testcase>`;
    });
    const named = '<properties><property name="approach" value="a"/><property name="model" value="m"/></properties>';
    const text = `<testsuite name="api" timestamp="2026-01-0${day + run}T00:00:00Z">${named}${cases.join("")}</testsuite>`;
    writeFileSync(join(folder, `r${run}.xml`), text);
  }
}

/** A stand-in for the API: `comments` is what a pull request has, `answers` are scripted answers by method, which come first. */
async function service({ comments = [], answers = {}, artifacts = [], zip } = {}) {
  const requests = [];
  let next = 1000;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (data) => (text += data));
    request.on("end", () => {
      const body = text === "" ? undefined : JSON.parse(text);
      const { method, url } = request;
      requests.push({ method, url, body, authorization: request.headers.authorization });
      const send = (status, json, headers = {}) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(Buffer.isBuffer(json) ? json : JSON.stringify(json));
      };
      const scripted = answers[method]?.shift();
      const create = () => {
        const comment = { id: (next += 1), user: BOT, body: body.body };
        comments.push(comment);
        return comment;
      };
      if (scripted) {
        if (scripted.isDone) {
          create();
        }
        if (scripted.isCut) {
          request.socket.destroy();
          return;
        }
        send(scripted.status, { message: scripted.message ?? "scripted" }, scripted.headers);
      } else if (method === "GET" && /\/issues\/7\/comments\?/.test(url)) {
        const page = Number(new URL(url, "http://x").searchParams.get("page"));
        send(200, comments.slice((page - 1) * 100, page * 100));
      } else if (method === "POST" && url === "/repos/o/r/issues/7/comments") {
        if ([...body.body].length > 65_536) {
          send(422, { message: "body is too long" });
        } else {
          send(201, create());
        }
      } else if (method === "PATCH") {
        const found = comments.find(({ id }) => url === `/repos/o/r/issues/comments/${id}`);
        Object.assign(found, body);
        send(200, found);
      } else if (method === "GET" && url.startsWith("/repos/o/r/actions/artifacts?")) {
        send(200, { artifacts });
      } else if (method === "GET" && /\/artifacts\/\d+\/zip$/.test(url)) {
        // The real service sends to another host, which must not see the token.
        send(302, {}, { location: `http://localhost:${server.address().port}/blob` });
      } else if (url === "/blob") {
        send(200, zip);
      } else {
        send(404, { message: "Not Found" });
      }
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { requests, comments, address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

const pull = (head = "o/r", base = "o/r") => ({
  repository: { full_name: "o/r", default_branch: "main" },
  pull_request: { number: 7, base: { repo: { full_name: base } }, head: { repo: { full_name: head } } },
});

/** Reads what a step wrote into the file of its outputs. */
function outputsOf(path) {
  const found = [...readFileSync(path, "utf8").matchAll(/^([\w-]+)<<(.+)\n([\s\S]*?)\n\2$/gm)];
  return Object.fromEntries(found.map(([, name, , value]) => [name, value]));
}

/** The action's own step, as a runner starts it. */
async function act({ inputs = {}, event = pull(), api, failing = 1, env = {}, prepare = () => {} }) {
  const work = join(root, `case-${(count += 1)}`);
  for (const folder of ["project", "temp"]) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  const file = (name, text = "") => {
    writeFileSync(join(work, name), text);
    return join(work, name);
  };
  reports(join(work, "project", "old"), 1, 1);
  reports(join(work, "project", "new"), failing, 4);
  prepare(join(work, "project"));
  const [outputs, summary] = [file("outputs"), file("summary")];
  const given = {
    "results": "new/*.xml", "baseline": "old", "max-drop": "5pp", "site": "false", "comment": "true", "binary": binary, "token": TOKEN,
    "comment-author": BOT.login, "baseline-path": "results", "working-directory": ".",
  };
  const child = spawn("/bin/bash", ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", 'node "$GITHUB_ACTION_PATH/action/main.mjs"'], {
    env: {
      PATH: process.env.PATH,
      HOME: work,
      GITHUB_ACTION_PATH: dirname(here),
      GITHUB_API_URL: api?.address ?? "http://127.0.0.1:9",
      GITHUB_SERVER_URL: "https://github.invalid",
      GITHUB_REPOSITORY: "o/r",
      GITHUB_RUN_ID: "42",
      GITHUB_WORKSPACE: join(work, "project"),
      GITHUB_EVENT_PATH: file("event.json", JSON.stringify(event)),
      GITHUB_OUTPUT: outputs,
      GITHUB_STEP_SUMMARY: summary,
      RUNNER_TEMP: join(work, "temp"),
      EVALREPORT_ACTION_WAIT_MS: "1",
      EVALREPORT_INPUTS: JSON.stringify({ ...given, ...inputs }),
      ...env,
    },
  });
  let log = "";
  child.stdout.on("data", (data) => (log += data));
  child.stderr.on("data", (data) => (log += data));
  const status = await new Promise((done) => child.on("close", done));
  api?.close();
  const got = { status, log, summary: readFileSync(summary, "utf8"), outputs: outputsOf(outputs), project: join(work, "project") };
  assert.equal(status, 0, log);
  for (const text of [log, got.summary, JSON.stringify(got.outputs)]) {
    assert.ok(!text.includes(TOKEN) && !text.includes(Buffer.from(`x-access-token:${TOKEN}`).toString("base64")), "the token is printed");
  }
  return got;
}

test("the first comment, the summary and the outputs", async () => {
  const api = await service();
  const got = await act({ api, failing: 20, inputs: { site: "true" } });
  assert.equal(api.comments.length, 1);
  const [{ body }] = api.comments;
  assert.ok(body.startsWith(`${MARKER}\n### Gate`), body);
  assert.match(body, /regression/);
  assert.match(got.summary, /^### Gate/);
  const { outputs } = got;
  assert.deepEqual([outputs.verdict, outputs["exit-code"], outputs.comment, outputs.cost], ["regression", "1", "created", "unknown"]);
  assert.ok(Math.abs(Number(outputs.difference) + 0.3167) < 0.001, outputs.difference);
  const [low, high] = JSON.parse(outputs.interval);
  assert.ok(low < Number(outputs.difference) && high > Number(outputs.difference) && high < -0.05);
  assert.equal(outputs.scale, "share");
  assert.ok(existsSync(join(outputs.site, "index.html")));
  assert.equal(JSON.parse(readFileSync(outputs.report, "utf8")).ruling, "regression");
  assert.ok(api.requests.every(({ authorization }) => authorization === `Bearer ${TOKEN}`));
});

test("the second time the comment is updated", async () => {
  const comments = [{ id: 1, user: { login: "person" }, body: "Nice." }, { id: 2, user: BOT, body: `${MARKER}\r\nold` }];
  const api = await service({ comments });
  const got = await act({ api });
  assert.equal(comments.length, 2);
  assert.match(comments[1].body, /^<!-- evalreport:gate -->\n### Gate against old: pass/);
  assert.equal(got.outputs.comment, "updated");
});

test("a comment beyond the first page is found", async () => {
  const comments = Array.from({ length: 230 }, (_, id) => ({ id, user: { login: "person" }, body: "+1" }));
  comments[215] = { id: 215, user: BOT, body: `${MARKER}\nold` };
  const got = await act({ api: await service({ comments }) });
  assert.deepEqual([comments.length, got.outputs.comment], [230, "updated"]);
  assert.match(comments[215].body, /: pass/);
});

test("comments of strangers with the same marker are not touched", async () => {
  const foreign = { id: 1, user: { login: "stranger" }, body: `${MARKER}\nmine` };
  const quoting = { id: 2, user: BOT, body: `> ${MARKER}\nquoted` };
  const nobody = { id: 3, user: null, body: `${MARKER}\nghost` };
  const api = await service({ comments: [foreign, quoting, nobody] });
  const got = await act({ api });
  assert.deepEqual([foreign.body, quoting.body, nobody.body], [`${MARKER}\nmine`, `> ${MARKER}\nquoted`, `${MARKER}\nghost`]);
  assert.deepEqual([api.comments.length, got.outputs.comment], [4, "created"]);
});

test("gates with different keys have a comment each", async () => {
  const comments = [{ id: 1, user: BOT, body: `${MARKER}\n<!-- key: other -->\nother` }];
  await act({ api: await service({ comments }) });
  await act({ api: await service({ comments }), inputs: { "comment-key": "mine" } });
  const again = await act({ api: await service({ comments }), inputs: { "comment-key": "mine" } });
  assert.deepEqual([comments.length, again.outputs.comment, comments[0].body.endsWith("other")], [3, "updated", true]);
  const bad = await act({ api: await service(), inputs: { "comment-key": "--> x" } });
  assert.equal(bad.outputs["exit-code"], "2");
});

test("a fork without rights has the summary only, and does not fail", async () => {
  const api = await service({ answers: { POST: [{ status: 403, message: "Resource not accessible by integration" }] } });
  const got = await act({ api, event: pull("stranger/r") });
  assert.deepEqual([got.outputs["exit-code"], got.outputs.comment, api.comments.length], ["0", "none", 0]);
  assert.match(got.log, /::warning title=evalreport::no comment: the pull request comes from a fork/);
  assert.match(got.summary, /^### Gate against old: pass/);
  assert.equal(api.requests.filter(({ method }) => method === "POST").length, 1, "a refusal is not repeated");
});

test("403 in the own repository names the permission", async () => {
  const got = await act({ api: await service({ answers: { GET: [{ status: 403 }] } }), failing: 20 });
  assert.deepEqual([got.outputs["exit-code"], got.outputs.comment], ["1", "none"]);
  assert.match(got.log, /pull-requests: write/);
});

test("failures of the service are repeated", async () => {
  const answers = {
    GET: [{ status: 502 }, { status: 429, headers: { "retry-after": "0" } }],
    POST: [{ status: 503 }, { status: 403, headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" } }],
  };
  const api = await service({ answers });
  const got = await act({ api });
  assert.deepEqual([api.comments.length, got.outputs.comment], [1, "created"]);
  assert.match(got.log, /502 scripted; attempt 2 of 5 follows/);
});

test("a comment that was written before the failure is not written twice", async () => {
  for (const failure of [{ status: 502, isDone: true }, { isCut: true, isDone: true }]) {
    const api = await service({ answers: { POST: [failure] } });
    const got = await act({ api });
    assert.deepEqual([api.comments.length, got.outputs.comment], [1, "updated"]);
  }
});

test("a service that goes on failing leaves the summary, and does not fail the job", async () => {
  const api = await service({ answers: { GET: Array.from({ length: 9 }, () => ({ status: 500 })) } });
  const got = await act({ api });
  assert.equal(api.requests.length, 5);
  assert.deepEqual([got.outputs["exit-code"], got.outputs.comment], ["0", "none"]);
  assert.match(got.log, /::warning title=evalreport::no comment: 500/);
  const absent = await act({});
  assert.deepEqual([absent.outputs["exit-code"], absent.outputs.comment], ["0", "none"]);
});

/** A program that answers as the gate does, with any Markdown. */
function standIn(project, markdown) {
  writeFileSync(join(project, "gate.md"), markdown);
  const report = JSON.stringify({ ruling: "pass", checks: [] });
  const text = `#!/bin/sh
printf '%s' '${report}'
for word do case "$word" in --markdown=*) cp '${join(project, "gate.md")}' "\${word#--markdown=}" ;; esac; done
`;
  writeFileSync(join(project, "program"), text);
  chmodSync(join(project, "program"), 0o755);
}

test("a body beyond the limit is cut at a line, with a link to the summary", async () => {
  const line = `- ${"word ".repeat(40)}é😀`;
  const long = `${MARKER}\n### Gate: pass\n\n<details><summary>all</summary>\n\n${`${line}\n`.repeat(1000)}\n</details>\n`;
  const api = await service();
  const got = await act({ api, inputs: { binary: "program" }, prepare: (project) => standIn(project, long) });
  const [{ body }] = api.comments;
  assert.ok(body.length <= 65_536 && body.length > 64_000, String(body.length));
  const end = "\n\n</details>\n\nThis comment is cut. [The job's summary](https://github.invalid/o/r/actions/runs/42/attempts/1) has the whole.\n";
  assert.ok(body.endsWith(`${line}${end}`), body.slice(-400));
  assert.ok(got.summary.length > 200_000);
});

test("the comment is the program's: what it wrote, and nothing more", async () => {
  const api = await service();
  const got = await act({ api, failing: 20 });
  const words = ["gate", "--baseline=old", "--max-drop=5pp", "./new/r0.xml", "./new/r1.xml", "./new/r2.xml", "--markdown=gate.md", "--quiet"];
  assert.throws(() => execFileSync(binary, words, { cwd: got.project, stdio: "pipe" }), ({ status }) => status === 1);
  const written = readFileSync(join(got.project, "gate.md"), "utf8");
  assert.equal(api.comments[0].body, written);
  assert.equal(got.summary, written.slice(MARKER.length + 1));
  assert.match(written, /\*\*18 items fail now and always passed in the baseline\*\*/);
  assert.match(written, /- `c::t10` \(passed 0 of 3, baseline 3 of 3\): expected 1/);
});

test("a program without --markdown is too old, and the comment says so", async () => {
  const api = await service();
  const prepare = (project) => {
    writeFileSync(join(project, "program"), "#!/bin/sh\necho \"error: unexpected argument '--markdown'\" >&2\nexit 2\n");
    chmodSync(join(project, "program"), 0o755);
  };
  const got = await act({ api, inputs: { binary: "program" }, prepare });
  assert.deepEqual([got.outputs["exit-code"], got.outputs.verdict], ["2", "error"]);
  assert.match(api.comments[0].body, /unexpected argument '--markdown'/);
});

test("without a pull request there is no comment", async () => {
  const api = await service();
  const got = await act({ api, event: { repository: { full_name: "o/r" }, ref: "refs/heads/main" } });
  assert.deepEqual([api.requests.length, got.outputs.comment, got.outputs.verdict], [0, "none", "pass"]);
  assert.match(got.log, /not a pull request/);
});

test("pull requests of other repositories get no comment", async () => {
  const api = await service();
  const got = await act({ api, event: pull("o/r", "upstream/r") });
  assert.deepEqual([api.requests.length, got.outputs.comment], [0, "none"]);
});

test("exit codes 0, 1, 2 and 3 are those of the policy", async () => {
  const code = async (inputs, failing = 1) => (await act({ failing, inputs: { comment: "false", ...inputs } })).outputs;
  assert.equal((await code({}))["exit-code"], "0");
  assert.equal((await code({}, 20))["exit-code"], "1");
  const broken = await code({ "max-drop": "much" });
  assert.deepEqual([broken["exit-code"], broken.verdict, broken.difference], ["2", "error", "unknown"]);
  // A baseline that is not there is a mistake, whatever an inconclusive gate means.
  assert.equal((await code({ baseline: "absent" }))["exit-code"], "2");
  assert.equal((await code({ baseline: "absent", "on-inconclusive": "pass" }))["exit-code"], "2");
  const first = async (policy) => (await code({ baseline: "last:7", ...policy }))["exit-code"];
  assert.deepEqual([await first({}), await first({ "on-inconclusive": "fail" }), await first({ "on-inconclusive": "pass" })], ["3", "1", "0"]);
  assert.equal((await code({ results: "none/*.xml" }))["exit-code"], "2");
  const step = readFileSync(join(dirname(here), "action.yml"), "utf8");
  assert.match(step, /run: exit "\$CODE"\n\s+env:\n\s+CODE: \$\{\{ steps\.gate\.outputs\.exit-code \}\}/);
});

test("an error replaces an older verdict in the comment, as inert text", async () => {
  const comments = [{ id: 2, user: BOT, body: `${MARKER}\npass` }];
  const odd = "@everyone ```` [x](http://e) *.xml";
  const got = await act({ api: await service({ comments }), inputs: { results: odd } });
  assert.match(comments[0].body, /### Gate: error/);
  assert.ok(comments[0].body.includes("`````text\nno file fits `results`: @everyone ````"), comments[0].body);
  assert.equal(got.outputs["exit-code"], "2");
});

test("foreign text is no command, neither of a shell nor of the runner", async () => {
  const name = "$(touch owned) `touch owned`;touch owned\n";
  const api = await service();
  const got = await act({
    api,
    failing: 20,
    inputs: { "results": "*.d/*.xml", "arguments": "--approach=$(touch owned)\n::set-output name=x::y", "comment-author": "$(touch owned)" },
    prepare: (project) => reports(join(project, `${name.trim()}.d`), 20, 4, { name: "::error::", reason: "&#10;::add-mask::x &lt;img src=x&gt; @you" }),
  });
  assert.ok(!existsSync(join(got.project, "owned")));
  const inert = got.log.replace(/^::stop-commands::(.+)\n[\s\S]*?\n::\1::$/gm, "");
  const commands = inert.split("\n").filter((line) => line.startsWith("::"));
  assert.ok(commands.every((line) => /^::(warning|error) title=evalreport::/.test(line)), inert);
  const plain = await act({ api: await service(), failing: 20, prepare: (project) => reports(join(project, "new"), 20, 4, { reason: "&lt;img src=x&gt; @you" }) });
  assert.ok(!plain.summary.includes("<img") && !plain.summary.includes("@you"), plain.summary);
});

/** Writes records of three runs as a store has them. */
function records(folder, kind, passed, cost) {
  mkdirSync(folder, { recursive: true });
  for (const run of [1, 2, 3]) {
    const record = {
      suite: "quiz", approach: "a", model: "m", shared_tests_passed: passed + run, shared_tests_total: 60, cost_usd: cost, tags: { kind },
    };
    writeFileSync(join(folder, `${kind}-${run}.json`), JSON.stringify(record));
  }
}

test("the store can be the new runs, and the cost is an output", async () => {
  const inputs = { "results": "", "store": "runs", "baseline": "kind=old", "arguments": "--suite=quiz" };
  const prepare = (project) => {
    records(join(project, "runs"), "old", 50, 0.5);
    records(join(project, "runs"), "new", 50, 0.25);
  };
  const got = await act({ api: await service(), inputs, prepare });
  assert.deepEqual([got.outputs.cost, got.outputs["exit-code"] !== "2"], ["0.25", true], got.log + got.summary);
});

/** Makes a ZIP file as artifacts are: compressed, with sizes in the directory only. */
function zipped(name, content) {
  const [packed, bytes] = [deflateRawSync(content), Buffer.from(name)];
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 6);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(bytes.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(packed.length, 20);
  entry.writeUInt32LE(content.length, 24);
  entry.writeUInt16LE(bytes.length, 28);
  const start = local.length + bytes.length + packed.length;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length + bytes.length, 12);
  end.writeUInt32LE(start, 16);
  return Buffer.concat([local, bytes, packed, entry, bytes, end]);
}

test("the baseline is the newest artifact of the branch, and not that of a fork", async () => {
  const project = join(root, "bundle");
  records(join(project, "store"), "old", 50, 0.5);
  execFileSync(binary, ["--results", "store", "export", "bundle", "b.bundle"], { cwd: project, stdio: "pipe" });
  const zip = zipped("b.bundle", readFileSync(join(project, "b.bundle")));
  const artifacts = [
    { id: 1, expired: false, workflow_run: { head_branch: "main", repository_id: 5, head_repository_id: 6 } },
    { id: 2, expired: false, workflow_run: { head_branch: "topic", repository_id: 5, head_repository_id: 5 } },
    { id: 3, expired: true, workflow_run: { head_branch: "main", repository_id: 5, head_repository_id: 5 } },
    { id: 4, expired: false, workflow_run: { head_branch: "main", repository_id: 5, head_repository_id: 5 } },
  ];
  const api = await service({ artifacts, zip });
  const prepare = (folder) => records(join(folder, "runs"), "new", 10, 0.5);
  const got = await act({ api, prepare, inputs: { "results": "", "store": "runs", "baseline": "", "baseline-artifact": "baseline" } });
  assert.equal(got.outputs.verdict, "regression", got.log);
  assert.ok(api.requests.some(({ url }) => url === "/repos/o/r/actions/artifacts/4/zip"));
  assert.equal(api.requests.find(({ url }) => url === "/blob").authorization, undefined, "another host sees the token");
  const none = await act({ api: await service(), inputs: { "baseline": "", "baseline-artifact": "baseline" } });
  assert.deepEqual([none.outputs["exit-code"], none.outputs.verdict], ["2", "error"]);
  assert.match(none.log, /no baseline: no workflow run of the branch main has left an artifact baseline/);
  const outside = await act({ api: await service({ artifacts, zip: zipped("../x.bundle", Buffer.from("x")) }), inputs: { "baseline": "", "baseline-artifact": "baseline" } });
  assert.equal(outside.outputs["exit-code"], "2");
  assert.match(outside.log, /outside of its folder/);
});

test("the baseline is a branch of the repository", async () => {
  const server = join(root, "server");
  const repository = join(server, "o", "r");
  mkdirSync(repository, { recursive: true });
  const git = (...words) => execFileSync("git", ["-c", "user.name=n", "-c", "user.email=n@example.org", ...words], { cwd: repository, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=kept");
  reports(join(repository, "results"), 1, 1);
  git("add", ".");
  git("commit", "--quiet", "--message=Results");
  const env = { GITHUB_SERVER_URL: `file://${server}` };
  const inputs = { "baseline": "", "baseline-branch": "kept", "comment": "false" };
  assert.equal((await act({ env, inputs, failing: 20 })).outputs.verdict, "regression");
  assert.equal((await act({ env, inputs: { ...inputs, "baseline-branch": "gone" } })).outputs["exit-code"], "2");
  assert.equal((await act({ env, inputs: { ...inputs, "baseline-path": "gone" } })).outputs["exit-code"], "2");
  assert.equal((await act({ env, inputs: { ...inputs, "baseline-path": "../x" } })).outputs["exit-code"], "2");
  assert.equal((await act({ env: { GITHUB_SERVER_URL: "file:///nowhere" }, inputs })).outputs["exit-code"], "2");
});

test("several baselines are refused", async () => {
  const got = await act({ inputs: { "baseline-branch": "kept", "comment": "false" } });
  assert.equal(got.outputs["exit-code"], "2");
});

test("the program is installed from a release, if its checksum is right", async () => {
  const { version } = packageFacts();
  const platforms = JSON.parse(readFileSync(join(dirname(here), "npm", "platforms.json"), "utf8"));
  const { target, program } = platforms[`${process.platform}-${process.arch}`];
  const name = `evalreport-v${version}-${target}`;
  const folder = join(root, "release");
  mkdirSync(join(folder, name), { recursive: true });
  copyFileSync(binary, join(folder, name, program));
  execFileSync("tar", ["-cf", `${name}.tar.gz`, name], { cwd: folder });
  const archive = readFileSync(join(folder, `${name}.tar.gz`));
  const sum = createHash("sha256").update(archive).digest("hex");
  const files = { SHA256SUMS: `${sum}  ${name}.tar.gz\n`, [`${name}.tar.gz`]: archive };
  let failures = 1;
  const server = createServer((request, response) => {
    const file = files[request.url.slice(1)];
    const status = failures > 0 ? 503 : file === undefined ? 404 : 200;
    failures -= 1;
    response.writeHead(status);
    response.end(status === 200 ? file : "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const env = { EVALREPORT_RELEASE_URL: `http://127.0.0.1:${server.address().port}` };
  const inputs = { binary: "", comment: "false" };
  const got = await act({ env, inputs });
  assert.equal(got.outputs.verdict, "pass", got.log);
  assert.match(got.log, /attestation not checked: no repository is set/);
  // With a repository, GitHub's program says who built it.
  const bin = join(root, "gh");
  mkdirSync(bin);
  for (const [code, verdict] of [[0, "pass"], [1, undefined]]) {
    const script = `#!/bin/sh
      [ "$GH_TOKEN" = ${TOKEN} ] || exit 9
      case "$*" in
        'attestation verify --help') exit 0 ;;
        'attestation verify '*'${name}.tar.gz --repo o/evalreport --signer-workflow o/evalreport/.github/workflows/release.yml') exit ${code} ;;
        *) exit 9 ;;
      esac`;
    writeFileSync(join(bin, "gh"), script, { mode: 0o755 });
    const more = { GITHUB_SERVER_URL: "https://github.com", EVALREPORT_ACTION_REPOSITORY: "o/evalreport", PATH: `${bin}:${process.env.PATH}` };
    const checked = await act({ env: { ...env, ...more }, inputs });
    if (code === 0) {
      assert.equal(checked.outputs.verdict, verdict, checked.log);
      assert.match(checked.log, /attested: built by o\/evalreport\/\.github\/workflows\/release\.yml/);
    } else {
      assert.equal(checked.outputs["exit-code"], "2", checked.log);
      assert.match(checked.log, /has no valid attestation of o\/evalreport/);
    }
  }
  files.SHA256SUMS = `${"0".repeat(64)}  ${name}.tar.gz\n`;
  const tampered = await act({ env, inputs });
  assert.equal(tampered.outputs["exit-code"], "2");
  assert.match(tampered.log, /has the checksum .* but SHA256SUMS lists/);
  const absent = await act({ env, inputs: { ...inputs, version: "9.9.9" } });
  assert.match(absent.log, /does not list evalreport-v9\.9\.9/);
  const odd = await act({ env, inputs: { ...inputs, version: "../x" } });
  assert.match(odd.log, /is not a version/);
  server.close();
});

test("texts are cut at lines, with open fences closed", () => {
  assert.equal(cut("a\nb", 10, "more"), "a\nb");
  assert.equal(cut(`aaaa\nbbbb\ncccc\n${"d".repeat(90)}`, 30, "more"), "aaaa\nbbbb\ncccc\n\nmore\n");
  assert.equal(cut(`\`\`\`text\n${"a\n".repeat(40)}\`\`\`\n`, 30, "more"), "```text\na\na\na\na\na\na\n```\n\nmore\n");
  assert.equal(fenced("a ``` b"), "````text\na ``` b\n````");
});

test("patterns find files", () => {
  const folder = join(root, "find");
  for (const path of ["a/x.xml", "a/b/y.xml", "a/.hidden.xml", "z.json"]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "");
  }
  const names = (pattern) => find(join(folder, pattern)).map((path) => path.slice(folder.length + 1));
  assert.deepEqual(names("a/*.xml"), ["a/x.xml"]);
  assert.deepEqual(names("**/*.xml"), ["a/b/y.xml", "a/x.xml"]);
  assert.deepEqual(names("?.json"), ["z.json"]);
  assert.deepEqual([names("a"), names("q")], [["a"], []]);
});

// Tests of install.sh, the manifests, the bill of materials, the image's root folder and the metadata for cargo binstall.
//
//   EVALREPORT_BINARY=PATH node --test packaging/test.mjs

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { packageFacts } from "./facts.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const binary = process.env.EVALREPORT_BINARY;
assert.ok(binary && existsSync(binary), "EVALREPORT_BINARY names the program to test");
const { version } = packageFacts();
const work = mkdtempSync(join(tmpdir(), "evalreport-packaging-test-"));
after(() => rmSync(work, { recursive: true, force: true }));

const platforms = JSON.parse(readFileSync(join(here, "..", "npm", "platforms.json"), "utf8"));
const { target } = platforms[`${process.platform}-${process.arch}`];
const archive = `evalreport-v${version}-${target}.tar.gz`;
const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
const has = (name) => spawnSync(name, ["--version"]).error === undefined;

/** A folder as a release is: archive and checksums. */
let release;
before(() => {
  release = join(work, "release");
  execFileSync(join(here, "archive.sh"), [target, binary, release], { stdio: "pipe" });
  writeFileSync(join(release, "SHA256SUMS"), `${sha256(join(release, archive))}  ${archive}\n${"1".repeat(64)}  other.whl\n`);
});

let count = 0;
async function install({ words = [], url = `file://${release}`, env = {}, shell = "sh" } = {}) {
  const home = join(work, `home-${(count += 1)}`);
  mkdirSync(home);
  const child = spawn(shell, [join(here, "install.sh"), ...words], {
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: home, ...(url && { EVALREPORT_RELEASE_URL: url }), ...env },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  const status = await new Promise((done) => child.on("close", done));
  assert.deepEqual(readdirSync(home).filter((name) => name.startsWith("tmp")), [], "nothing is left behind");
  return { status, out, err, home, program: join(home, ".local", "bin", "evalreport") };
}

test("the archive has program, completions, manual and licences", () => {
  const names = execFileSync("tar", ["-tzf", join(release, archive)], { encoding: "utf8" }).trim().split("\n");
  for (const name of ["evalreport", "README.md", "LICENSE-MIT", "completions/evalreport.bash", "completions/_evalreport", "man/evalreport.1"]) {
    assert.ok(names.includes(`evalreport-v${version}-${target}/${name}`), name);
  }
});

test("install.sh installs what the checksums list", async () => {
  const got = await install();
  assert.deepEqual([got.status, got.err], [0, ""]);
  assert.match(got.out, new RegExp(`^installed evalreport ${version} as .*/.local/bin/evalreport\nattestation not checked: .*\n.* is not in PATH`));
  assert.equal(execFileSync(got.program, ["--version"], { encoding: "utf8" }).trim(), `evalreport ${version}`);
  // Over an older one that may be running.
  const again = await install({ words: ["--version", version, "--dir", dirname(got.program)] });
  assert.equal(again.status, 0, again.err);
  assert.deepEqual(readdirSync(dirname(got.program)), ["evalreport"]);
});

test("install.sh installs from a server", async () => {
  const server = createServer((request, response) => {
    const path = join(release, basename(request.url));
    response.writeHead(existsSync(path) ? 200 : 404);
    response.end(existsSync(path) ? readFileSync(path) : "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${server.address().port}`;
  const got = await install({ url });
  assert.equal(got.status, 0, got.err);
  assert.ok(existsSync(got.program));
  const absent = await install({ url: `${url}/`, words: ["--version", "9.9.9"] });
  assert.match(absent.err, /is not version 9\.9\.9/);
  server.close();
});

test("install.sh follows no redirect to an address without encryption, with curl or wget", { skip: !has("openssl") && "needs openssl" }, async () => {
  const [key, certificate] = [join(work, "key.pem"), join(work, "certificate.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", ...subject], { stdio: "pipe" });
  const give = (request, response) => {
    const path = join(release, basename(request.url));
    response.writeHead(existsSync(path) ? 200 : 404);
    response.end(existsSync(path) ? readFileSync(path) : "");
  };
  let asked = 0;
  const plain = createServer((request, response) => {
    asked += 1;
    give(request, response);
  });
  await new Promise((done) => plain.listen(0, "127.0.0.1", done));
  // `/fine/` leads to `/real/` on the same server, `/bad/` to the same files without encryption, `/loop/` to itself.
  const secure = createSecureServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    const [, kind, name] = request.url.split("/");
    const port = { fine: secure.address().port, bad: plain.address().port, loop: secure.address().port }[kind];
    if (port === undefined) {
      give(request, response);
      return;
    }
    const where = kind === "bad" ? `http://127.0.0.1:${port}/${name}` : `https://127.0.0.1:${port}/${kind === "fine" ? "real" : kind}/${name}`;
    response.writeHead(302, { location: where });
    response.end();
  });
  await new Promise((done) => secure.listen(0, "127.0.0.1", done));
  // Only one of the two programs is on the path, and each trusts the server.
  const where = (name) => execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
  const only = (name) => {
    const bin = join(work, `only-${name}`);
    mkdirSync(bin);
    const used = "sh tar gzip uname sysctl sed mktemp rm cp mv mkdir chmod cut sha256sum shasum openssl tr tail grep cat";
    for (const tool of used.split(" ").filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0)) {
      symlinkSync(where(tool), join(bin, tool));
    }
    return bin;
  };
  for (const program of ["curl", "wget"].filter(has)) {
    const bin = only(program);
    const real = where(program);
    const trust = program === "curl" ? "--cacert" : "--ca-certificate";
    writeFileSync(join(bin, program), `#!/bin/sh\nexec ${real} ${trust} ${certificate} "$@"\n`, { mode: 0o755 });
    const from = (kind) => install({ url: `https://127.0.0.1:${secure.address().port}/${kind}`, env: { PATH: bin } });
    for (const kind of ["real", "fine"]) {
      const got = await from(kind);
      assert.equal(got.status, 0, `${program} ${kind}: ${got.err}`);
    }
    for (const kind of ["bad", "loop"]) {
      const got = await from(kind);
      assert.equal(got.status, 1, `${program} ${kind}`);
      assert.match(got.err, /^error: .*\n {2}hint: /m);
      assert.ok(!existsSync(got.program));
    }
    assert.equal(asked, 0, `${program} asked without encryption`);
  }
  // The wget of small systems cannot be told to stay.
  const small = only("small");
  writeFileSync(join(small, "wget"), "#!/bin/sh\necho 'wget: unrecognized option: max-redirect=0' >&2\nexit 1\n", { mode: 0o755 });
  const got = await install({ url: `https://127.0.0.1:${secure.address().port}/real`, env: { PATH: small } });
  assert.match(got.err, /this wget cannot be kept to https/);
  plain.close();
  secure.close();
});

test("install.sh checks the attestation if it can, and with --attested installs nothing without one", async () => {
  const bin = join(work, "gh");
  mkdirSync(bin);
  const gh = (verify, { old = false, login = true } = {}) => {
    const script = `#!/bin/sh
      case "$*" in
        'attestation verify --help') exit ${old ? 1 : 0} ;;
        'auth status') exit ${login ? 0 : 1} ;;
        'attestation verify '*' --repo o/evalreport --signer-workflow o/evalreport/.github/workflows/release.yml')
          [ -f "$3" ] || exit 9
          exit ${verify} ;;
        *) exit 9 ;;
      esac`;
    writeFileSync(join(bin, "gh"), script, { mode: 0o755 });
  };
  const env = { PATH: `${bin}:${process.env.PATH}`, EVALREPORT_REPOSITORY: "o/evalreport" };
  gh(0);
  for (const words of [[], ["--attested"]]) {
    const got = await install({ env, words });
    assert.equal(got.status, 0, got.err);
    assert.match(got.out, /\nattested: built by o\/evalreport\/\.github\/workflows\/release\.yml\n/);
  }
  gh(1);
  const forged = await install({ env });
  assert.equal(forged.status, 1);
  assert.match(forged.err, /has no valid attestation of o\/evalreport/);
  assert.ok(!existsSync(forged.program));
  // Whoever does not ask for it gets a line that says so.
  const none = { PATH: process.env.PATH };
  const cases = [
    [() => gh(9, { old: true }), env, /this gh is too old for it/],
    [() => gh(9, { login: false }), env, /gh is not logged in/],
    [() => {}, none, /no repository is set/],
    ...(has("gh") ? [] : [[() => {}, { ...none, EVALREPORT_REPOSITORY: "o/evalreport" }, /gh is not installed/]]),
  ];
  for (const [prepare, env, why] of cases) {
    prepare();
    const loose = await install({ env });
    assert.equal(loose.status, 0, loose.err);
    assert.match(loose.out, why);
    const strict = await install({ env, words: ["--attested"] });
    assert.equal(strict.status, 1);
    assert.match(strict.err, why);
    assert.ok(!existsSync(strict.program));
  }
});

/** The release with one change. */
function changed(change) {
  const folder = join(work, `changed-${(count += 1)}`);
  mkdirSync(folder);
  for (const name of [archive, "SHA256SUMS"]) {
    copyFileSync(join(release, name), join(folder, name));
  }
  change(folder);
  return `file://${folder}`;
}

test("install.sh refuses what differs from the checksums, and installs nothing", async () => {
  const spoil = (folder) => {
    const bytes = readFileSync(join(folder, archive));
    bytes[bytes.length - 9] ^= 1;
    writeFileSync(join(folder, archive), bytes);
  };
  const cases = [
    [spoil, /has the checksum [0-9a-f]{64}, but SHA256SUMS lists [0-9a-f]{64}/],
    [(folder) => writeFileSync(join(folder, archive), readFileSync(join(folder, archive)).subarray(0, 1000)), /has the checksum/],
    [(folder) => writeFileSync(join(folder, "SHA256SUMS"), ""), /has no archive for/],
    [(folder) => writeFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  evalreport-v1/../../x-${target}.tar.gz\n`), /has no archive for/],
    [(folder) => writeFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  evalreport-v1-${target}.tar.gz\n`.repeat(2)), /several archives/],
    [(folder) => rmSync(join(folder, archive)), /cannot read/],
    [(folder) => rmSync(join(folder, "SHA256SUMS")), /cannot read/],
  ];
  for (const [change, message] of cases) {
    const got = await install({ url: changed(change) });
    assert.equal(got.status, 1);
    assert.match(got.err, message);
    assert.match(got.err, /^error: .*\n {2}hint: /);
    assert.ok(!existsSync(got.program));
  }
});

test("install.sh says what is wrong with its arguments", async () => {
  const cases = [
    [{ words: ["--fast"] }, /unknown argument `--fast`/],
    [{ words: ["--version"] }, /--version needs a value/],
    [{ words: ["--version", "1/../2"] }, /is no version/],
    [{ url: "" }, /no repository is set/],
    [{ url: "http://example.org" }, /neither https nor a file/],
    [{ words: ["--dir", "/proc/nothing"] }, /cannot make the folder/],
    [{ env: { PATH: "/nothing" }, shell: "/bin/sh" }, /tar is not installed/],
  ];
  for (const [options, message] of cases) {
    const got = await install(options);
    assert.equal(got.status, 1, got.out);
    assert.match(got.err, message);
  }
});

test("install.sh is plain sh", () => {
  for (const shell of ["dash", "busybox", "bash"].filter(has)) {
    const words = shell === "busybox" ? ["sh", "-n"] : ["-n"];
    execFileSync(shell, [...words, join(here, "install.sh")]);
  }
});

/** Checksums of a whole release. */
function sums() {
  const names = Object.values(platforms).map(({ target: one, os }) => `evalreport-v${version}-${one}.${os === "win32" ? "zip" : "tar.gz"}`);
  const path = join(work, "SHA256SUMS");
  writeFileSync(path, names.map((name, at) => `${String(at).repeat(64)}  ${name}\n`).join(""));
  return { names, path };
}

const manifests = (path, out, repository) =>
  spawnSync(process.execPath, [join(here, "manifests.mjs"), "--sums", path, "--out", out], {
    encoding: "utf8",
    env: { ...process.env, EVALREPORT_REPOSITORY: repository },
  });

test("the Homebrew formula has every platform and parses", (context) => {
  const { names, path } = sums();
  const out = join(work, "manifests");
  assert.equal(manifests(path, out, "o/evalreport").status, 0);
  const formula = readFileSync(join(out, "evalreport.rb"), "utf8");
  for (const [at, name] of names.entries()) {
    const url = `https://github.com/o/evalreport/releases/download/v${version}/${name}`;
    assert.equal(formula.includes(`url "${url}"\n      sha256 "${String(at).repeat(64)}"`), name.endsWith(".tar.gz"), name);
  }
  assert.ok(formula.match(/desc "(.*)"/)[1].length <= 80);
  if (!has("ruby")) {
    context.diagnostic("ruby is not installed: the formula is not parsed");
    return;
  }
  assert.match(execFileSync("ruby", ["-c", join(out, "evalreport.rb")], { encoding: "utf8" }), /Syntax OK/);
  // Evaluated with a stand-in for Homebrew's classes: every word is one that it has.
  const stand = `
    class Formula
      SEEN = []
      def self.method_missing(name, *words) = SEEN.push([name, *words])
      def self.respond_to_missing?(*) = true
      %i[on_macos on_linux on_arm on_intel].each { |name| define_singleton_method(name) { |&block| SEEN.push(name); block.call } }
      def self.test(&block) = nil
    end
    load ARGV[0]
    puts Formula::SEEN.map { |word| word.is_a?(Array) ? word[0] : word }.join(" ")`;
  const words = execFileSync("ruby", ["-e", stand, join(out, "evalreport.rb")], { encoding: "utf8" }).trim();
  assert.equal(
    words,
    "desc homepage version license on_macos on_arm url sha256 on_intel url sha256 on_linux on_arm url sha256 on_intel url sha256"
  );
});

test("the Scoop manifest has the keys that Scoop reads", () => {
  const { names, path } = sums();
  const out = join(work, "scoop");
  assert.equal(manifests(path, out, "o/evalreport").status, 0);
  const manifest = JSON.parse(readFileSync(join(out, "evalreport.json"), "utf8"));
  const known = ["version", "description", "homepage", "license", "architecture", "bin", "checkver", "autoupdate"];
  assert.deepEqual(Object.keys(manifest), known);
  const { url, hash, extract_dir: folder, ...rest } = manifest.architecture["64bit"];
  assert.deepEqual(rest, {});
  const at = names.findIndex((name) => name.endsWith(".zip"));
  assert.deepEqual([basename(url), hash, folder], [names[at], String(at).repeat(64), names[at].replace(/\.zip$/, "")]);
  assert.equal(manifest.bin, "evalreport.exe");
  const update = manifest.autoupdate.architecture["64bit"];
  assert.equal(update.url.replaceAll("$version", version), url);
  assert.equal(update.extract_dir.replaceAll("$version", version), folder);
});

test("manifests need the checksum of every platform, and a repository", () => {
  const { path } = sums();
  const partial = join(work, "partial");
  writeFileSync(partial, readFileSync(path, "utf8").split("\n").slice(1).join("\n"));
  assert.match(manifests(partial, join(work, "no"), "o/evalreport").stderr, /does not list evalreport-v/);
  assert.match(manifests(path, join(work, "no"), "not a name").stderr, /no repository is set/);
});

test("the bill of materials has what ends in the program, and not what only tests need", () => {
  const one = (name, license, source = "registry+x") => ({ id: `${name}-id`, name, version: "1.0.0", license, source });
  const dep = (name, kind = null) => ({ pkg: `${name}-id`, dep_kinds: [{ kind, target: null }] });
  const metadata = {
    workspace_root: join(work, "nowhere"),
    packages: [one("evalreport", "MIT OR Apache-2.0", null), one("used", "MIT/Apache-2.0"), one("deep", null), one("cc", "MIT"), one("tests", "MIT")],
    resolve: {
      root: "evalreport-id",
      nodes: [
        { id: "evalreport-id", deps: [dep("used"), dep("tests", "dev"), dep("cc", "build")] },
        { id: "used-id", deps: [dep("deep")] },
        { id: "deep-id", deps: [dep("used")] },
        { id: "cc-id", deps: [] },
        { id: "tests-id", deps: [] },
      ],
    },
  };
  const write = () =>
    execFileSync(process.execPath, [join(here, "sbom.mjs")], {
      input: JSON.stringify(metadata),
      encoding: "utf8",
      env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" },
    });
  const bill = JSON.parse(write());
  assert.equal(write(), JSON.stringify(bill, null, 2) + "\n", "the same input gives the same bytes");
  assert.deepEqual(bill.packages.map(({ name }) => name), ["cc", "deep", "evalreport", "used"]);
  assert.deepEqual(bill.packages.map(({ licenseDeclared }) => licenseDeclared), ["MIT", "NOASSERTION", "MIT OR Apache-2.0", "MIT OR Apache-2.0"]);
  const ids = new Set(["SPDXRef-DOCUMENT", ...bill.packages.map(({ SPDXID }) => SPDXID)]);
  assert.equal(ids.size, 5);
  assert.ok(bill.relationships.every((relation) => ids.has(relation.spdxElementId) && ids.has(relation.relatedSpdxElement)));
  assert.equal(bill.relationships.filter(({ relationshipType: type }) => type === "BUILD_DEPENDENCY_OF").length, 1);
  for (const key of ["spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"]) {
    assert.ok(bill[key], key);
  }
  assert.equal(bill.creationInfo.created, "2023-11-14T22:13:20Z");
});

test("the Dockerfile copies only the root folder, and runs without rights", () => {
  const lines = readFileSync(join(here, "Dockerfile"), "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  assert.deepEqual(lines.map((line) => line.split(" ")[0]), ["FROM", "ARG", "COPY", "USER", "WORKDIR", "ENV", "ENTRYPOINT"]);
  assert.ok(lines.includes("FROM scratch") && lines.includes("USER 65532:65532"));
});

test("the program works in the image's root folder, read-only and without rights", { skip: process.platform !== "linux" && "needs Linux" }, (context) => {
  const root = join(work, "root");
  execFileSync(join(here, "image-root.sh"), [binary, root]);
  assert.deepEqual(readdirSync(root).sort(), ["etc", "evalreport", "tmp", "work"]);
  assert.equal(statSync(join(root, "tmp")).mode & 0o7777, 0o1777);
  assert.match(readFileSync(join(root, "etc/ssl/certs/ca-certificates.crt"), "utf8"), /BEGIN CERTIFICATE/);
  const inside = spawnSync("unshare", ["--mount", "true"]);
  if (inside.status !== 0 || process.getuid() !== 0) {
    context.skip("needs root and `unshare --mount`");
    return;
  }
  // What a dynamic program needs is no part of the image: it only lets the rest be tested.
  const libraries = spawnSync("ldd", [binary], { encoding: "utf8" });
  const paths = [...(libraries.stdout ?? "").matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path);
  context.diagnostic(paths.length === 0 ? "the program is static" : "the program is dynamic: its libraries are added, which the image has not");
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(path, join(root, path));
    chmodSync(join(root, path), 0o755);
  }
  chmodSync(work, 0o755);
  const results = join(work, "results");
  mkdirSync(results);
  for (const [kind, passed] of [["a", 20], ["b", 50]]) {
    for (const run of [1, 2, 3]) {
      const record = { suite: "quiz", approach: kind, model: "m", shared_tests_passed: passed + run, shared_tests_total: 60 };
      writeFileSync(join(results, `${kind}-${run}.json`), JSON.stringify(record));
    }
  }
  // `/work` is the mounted folder of the user; all else is read-only, also `/tmp`.
  const script = `
    set -e
    mount --bind '${root}' '${root}'
    mount --bind '${results}' '${root}/work'
    mount -o remount,bind,ro '${root}'
    mount -o remount,bind,ro '${root}/work'
    ! touch '${root}/x' 2>/dev/null
    chroot --userspec=65532:65532 '${root}' /evalreport --version
    chroot --userspec=65532:65532 '${root}' /evalreport --results /work compare quiz`;
  const got = spawnSync("unshare", ["--mount", "sh", "-c", script], { encoding: "utf8", env: { PATH: process.env.PATH, HOME: "/tmp" } });
  assert.equal(got.status, 0, got.stdout + got.stderr);
  assert.ok(got.stdout.startsWith(`evalreport ${version}\n`) && got.stdout.includes("quiz"), got.stdout);
});

test("cargo binstall finds the archives by the metadata", () => {
  const text = readFileSync(join(here, "..", "Cargo.toml"), "utf8");
  const section = (name) => text.split(`[package.metadata.binstall${name}]\n`)[1]?.split(/^\[/m)[0] ?? "";
  const value = (part, key) => part.match(new RegExp(`^${key} = "(.*)"$`, "m"))?.[1];
  const filled = (template, one, windows) => {
    const words = {
      repo: "https://github.com/o/evalreport", name: "evalreport", version, target: one, bin: "evalreport",
      "binary-ext": windows ? ".exe" : "", "archive-suffix": windows ? ".zip" : ".tar.gz",
    };
    return template.replace(/\{ ([\w-]+) \}/g, (_, word) => words[word]);
  };
  const all = section("");
  assert.equal(value(all, "pkg-fmt"), "tgz");
  assert.equal(value(section(".overrides.x86_64-pc-windows-msvc"), "pkg-fmt"), "zip");
  for (const { target: one, os, program } of Object.values(platforms)) {
    const windows = os === "win32";
    const name = `evalreport-v${version}-${one}`;
    const url = `https://github.com/o/evalreport/releases/download/v${version}/${name}.${windows ? "zip" : "tar.gz"}`;
    assert.equal(filled(value(all, "pkg-url"), one, windows), url);
    assert.equal(filled(value(all, "bin-dir"), one, windows), `${name}/${program}`);
  }
});

test("the recipe of docs/do/gate-pull-requests.md for every CI runs as it stands", () => {
  const [, recipe] = readFileSync(join(here, "..", "docs", "do", "gate-pull-requests.md"), "utf8").match(/```sh\n([\s\S]*?)```/);
  const folder = join(work, "recipe");
  mkdirSync(join(folder, "reports"), { recursive: true });
  mkdirSync(join(folder, "old"));
  const report = (path, day, failing) => {
    const cases = Array.from({ length: 60 }, (_, at) => `<testcase classname="c" name="t${at}">${at < failing ? "<failure/>" : ""}</testcase>`);
    const named = '<properties><property name="approach" value="a"/><property name="model" value="m"/></properties>';
    const time = `timestamp="2026-01-0${day}T00:00:00Z"`;
    writeFileSync(join(folder, path), `<testsuite name="s" ${time}>${named}${cases.join("")}</testsuite>`);
  };
  for (const run of [1, 2, 3]) {
    report(`old/${run}.xml`, run, 10);
    report(`reports/new-${run}.xml`, 3 + run, 40 + run);
  }
  const env = { ...process.env, PATH: `${join(work, "bin")}:${process.env.PATH}` };
  mkdirSync(join(work, "bin"));
  copyFileSync(binary, join(work, "bin", "evalreport"));
  execFileSync("evalreport", ["--results", "store", "import", "old"], { cwd: folder, env, stdio: "pipe" });
  execFileSync("evalreport", ["--results", "store", "export", "bundle", "baseline.bundle"], { cwd: folder, env, stdio: "pipe" });
  const got = spawnSync("sh", ["-c", recipe], { cwd: folder, env, encoding: "utf8" });
  assert.equal(got.status, 1, got.stderr);
  assert.match(readFileSync(join(folder, "gate.md"), "utf8"), /^<!-- evalreport:gate -->\n### Gate against baseline\.bundle: regression/);
  assert.match(readFileSync(join(folder, "gate.xml"), "utf8"), /<failure/);
});

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findProgram } from "../../../../src/os/files/access.ts";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";

function write(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

/** A home directory that commands cannot write to, as a user's: the test's home is in /tmp, which is private in the sandbox. */
const READ_ONLY_HOME = { HOME: "/usr" };
/** A cargo that rustup installed needs its toolchains, which are not in the test's home directory. */
const rustup = process.env.RUSTUP_HOME ?? join(userInfo().homedir, ".rustup");
const CARGO = {
  ...READ_ONLY_HOME,
  ...(existsSync(rustup) ? { RUSTUP_HOME: rustup } : {}),
  CARGO_TERM_COLOR: "never",
};
const lacks = (program: string): boolean => findProgram(program, process.env) === undefined;

function npmPackage(_home: string, project: string): void {
  write(project, {
    "package.json": JSON.stringify({
      name: "app",
      version: "1.0.0",
      dependencies: { tool: "file:vendor/tool-1.0.0.tgz", linked: "file:./linked" },
      scripts: { prepare: "echo prepared > prepared", test: "tool && node --test", build: "node build.js" },
    }),
    "build.js": `require("fs").writeFileSync("out.txt", require("linked"));`,
    "app.test.js": `require("node:test")("adds", () => require("node:assert").equal(1 + 1, 2));`,
    "linked/package.json": JSON.stringify({ name: "linked", version: "1.0.0", main: "index.js" }),
    "linked/index.js": `module.exports = "built";`,
    "tool/package.json": JSON.stringify({ name: "tool", version: "1.0.0", bin: "tool.js" }),
    "tool/tool.js": `#!/usr/bin/env node\nconsole.log("the tool ran");`,
    "vendor/.keep": "",
  });
}

describeInSandbox("npm in the sandbox", () => {
  test("packs, installs from a lock file, builds and tests", async () => {
    const { bash, project } = await sandboxedAgent({ env: READ_ONLY_HOME, prepare: npmPackage });
    const installed = await bash(
      "set -e; npm pack --pack-destination vendor ./tool; npm install --no-audit --no-fund; rm -r node_modules; npm ci --no-audit --no-fund",
    );
    expect(installed).toMatchObject({ isError: false });
    expect(existsSync(join(project, "prepared"))).toBe(true);
    const tested = await bash("npm run build && cat out.txt && npm test");
    expect(tested).toMatchObject({ isError: false, content: expect.stringContaining("the tool ran") });
    expect(tested.content).toMatch(/built[\s\S]*pass 1/);
  });

  test("has a private cache, and cannot install a global package", async () => {
    const { bash } = await sandboxedAgent({ env: READ_ONLY_HOME, prepare: npmPackage });
    expect(
      await bash(
        "npm config get cache && npm pack ./tool && npm cache add ./tool-1.0.0.tgz && ls -A /tmp/cache/npm",
      ),
    ).toMatchObject({
      isError: false,
      content: expect.stringMatching(/^\/tmp\/cache\/npm\n[\s\S]*_cacache/),
    });
    expect(await bash("npm install -g --prefix ~/.local ./tool")).toMatchObject({ isError: true });
  });
});

function crate(_home: string, project: string): void {
  write(project, {
    "Cargo.toml": `[workspace]\nmembers = ["part"]\n[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\npart = { path = "part" }\nvendored = "1"\n`,
    "build.rs": `fn main() { println!("cargo::rustc-env=BUILT_BY=script"); }`,
    "src/main.rs": `fn main() { println!("{} {} {}", part::two(), vendored::three(), env!("BUILT_BY")); }\n#[test]\nfn adds() { assert_eq!(1 + 1, part::two()); }\n`,
    "part/Cargo.toml": `[package]\nname = "part"\nversion = "0.1.0"\nedition = "2021"\n`,
    "part/src/lib.rs": "pub fn two() -> i32 { 2 }\n",
    "vendor/vendored/Cargo.toml": `[package]\nname = "vendored"\nversion = "1.0.0"\nedition = "2021"\n`,
    "vendor/vendored/src/lib.rs": "pub fn three() -> i32 { 3 }\n",
    "vendor/vendored/.cargo-checksum.json": `{"files":{}}`,
    ".cargo/config.toml": `[source.crates-io]\nreplace-with = "vendored-sources"\n[source.vendored-sources]\ndirectory = "vendor"\n`,
  });
}

const noCargo = lacks("cargo");
describeInSandbox("cargo in the sandbox", () => {
  describe.skipIf(noCargo)("without ~/.cargo", () => {
    test("builds with vendored crates and a build script, runs and tests", async () => {
      const { bash } = await sandboxedAgent({ env: CARGO, prepare: crate });
      const result = await bash("cargo run --offline && cargo test --offline && cargo clean");
      expect(result).toMatchObject({ isError: false, content: expect.stringContaining("2 3 script") });
      expect(result.content).toContain("1 passed");
    });
  });
});

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findProgram } from "../../../src/os/files/access.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const INSTALL = fileURLToPath(new URL("../../../scripts/lib/install.sh", import.meta.url));

/** Prepares the tests on a machine that has Node.js, the packages and tmux. */
const PREPARE = `. '${INSTALL}'
require_node() { :; }
require_packages() { :; }
require_tmux() { :; }
prepare_tests`;

test("prepare_tests › installs each program that tests need, and continues if it cannot install a program", () => {
  const bin = temporaryDirectory();
  const log = join(bin, "log");
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  symlinkSync(findProgram("env", process.env) ?? "", join(bin, "env"));
  program("git", "exit 0");
  program("uname", "echo Linux");
  program("id", "echo 0");
  // The words are: install -y --no-install-recommends <package>.
  const installs = `[ "$1" = install ] || exit 0
echo "$4" >>'${log}'
case $4 in fish) exit 100 ;; bubblewrap) name=bwrap ;; ripgrep) name=rg ;; *) name=$4 ;; esac
echo '#!/bin/sh' >'${bin}'/$name && /bin/chmod +x '${bin}'/$name`;
  program("apt-get", installs);
  const env = { PATH: bin, TMPDIR: bin };
  const prepare = () =>
    spawnSync(findProgram("bash", process.env) ?? "", ["--norc", "-uc", PREPARE], { env, encoding: "utf8" });
  const first = prepare();
  expect([first.status, first.stderr.split("\n")]).toEqual([
    0,
    [
      "Installing bubblewrap ...",
      "Installing zsh ...",
      "Installing fish ...",
      "fish could not be installed; the tests that need it are skipped.",
      "Installing ripgrep ...",
      "",
    ],
  ]);
  // After a failure, the package is installed once more, with a newer list of packages.
  expect(readFileSync(log, "utf8").split("\n")).toEqual(["bubblewrap", "zsh", "fish", "fish", "ripgrep", ""]);
  program("apt-get", `echo "not needed" >>'${log}'`);
  program("fish", "exit 0");
  expect(prepare().stderr).toBe("");
  expect(readFileSync(log, "utf8")).not.toContain("not needed");
});

test("require_packages › refuses to empty the packages of another checkout through a link", () => {
  const [checkout, other] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(other, "zod"));
  symlinkSync(other, join(checkout, "node_modules"));
  writeFileSync(join(checkout, "package.json"), "{}");
  writeFileSync(join(checkout, "package-lock.json"), '{ "lockfileVersion": 3, "packages": {} }');
  const install = `. '${INSTALL}'; require_packages`;
  const { status, stderr } = spawnSync("bash", ["--norc", "-uc", install], {
    cwd: checkout,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([6, expect.stringMatching(/^node_modules is a link, .*\n$/)]);
  expect(readdirSync(other)).toEqual(["zod"]);
});

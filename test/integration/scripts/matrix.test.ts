import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findProgram } from "../../../src/os/files/access.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/matrix", import.meta.url));

function matrix(...words: string[]) {
  const { PATH, HOME } = process.env;
  return spawnSync(SCRIPT, words, { env: { PATH, HOME }, encoding: "utf8", timeout: 240_000 });
}

test("scripts/matrix › runs the tests with the given tmux, and prints a line for each", () => {
  const build = temporaryDirectory();
  const [tmux, log] = [join(build, "tmux"), join(build, "log")];
  const real = findProgram("tmux", process.env);
  writeFileSync(
    tmux,
    `#!/bin/sh\n[ "$1" != -V ] || { echo tmux 9.9; exit; }\necho "$*" >>'${log}'\nexec '${real}' "$@"\n`,
    { mode: 0o755 },
  );
  const { status, stdout } = matrix(tmux, "--", "test/integration/tmux/capture.test.ts");
  expect(stdout).toMatch(/\ntmux 9\.9: [1-9]\d* passed, 0 failed, 0 skipped\n$/);
  expect(status).toBe(0);
  expect(readFileSync(log, "utf8")).toContain("capture-pane");
});

test("scripts/matrix › refuses programs other than tmux and node, and runs nothing", () => {
  for (const word of ["/bin/sh", join(temporaryDirectory(), "tmux")]) {
    const { status, stdout, stderr } = matrix(word);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(word);
  }
});

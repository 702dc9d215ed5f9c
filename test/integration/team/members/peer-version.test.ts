import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { StartedWith } from "../../../../src/os/process/started-with.ts";
import { versionOfClaude } from "../../../../src/team/members/peer-version.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const started = (facts: Partial<StartedWith>): StartedWith => ({ words: [], env: () => undefined, ...facts });

/** Creates a program in a package. @returns its path */
function programIn(path: string, name = "@anthropic-ai/claude-code"): string {
  const directory = temporaryDirectory();
  const program = join(directory, path);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, "");
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name, version: "2.1.150" }));
  return program;
}

test("the version of a claude › is that of the package around its program, its script or the shell's record", () => {
  const program = programIn("bin/claude.exe");
  const now = Date.now() + 60_000;
  expect(versionOfClaude(started({ program }), now)).toBe("2.1.150");
  expect(versionOfClaude(started({ words: ["node", program] }), now)).toBe("2.1.150");
  expect(versionOfClaude(started({ env: (name) => (name === "_" ? program : undefined) }), now)).toBe(
    "2.1.150",
  );
});

test("the version of a claude › is that in the path of an installed program", () => {
  const program = "/home/user/.local/share/claude/versions/2.1.330";
  expect(versionOfClaude(started({ program }), undefined)).toBe("2.1.330");
});

test("the version of a claude › is unknown when its package was replaced after the start", () => {
  const program = programIn("cli.js");
  expect(versionOfClaude(started({ program }), Date.now() - 60_000)).toBeUndefined();
});

test("the version of another program › is unknown", () => {
  const program = programIn("cli.js", "other");
  expect(
    versionOfClaude(started({ program, words: ["other", "--help"] }), Date.now() + 60_000),
  ).toBeUndefined();
});

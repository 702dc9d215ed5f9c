import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askTrust } from "../../../src/cli/trust-prompt.ts";
import { trustDecision } from "../../../src/settings/trust.ts";
import type { Io } from "../../../src/terminal/io.ts";
import { openOutput } from "../../../src/terminal/output.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

interface Given {
  readonly terminal?: boolean;
  readonly json?: boolean;
  readonly settings?: object;
}

/** A directory that brings settings, and a person who answers with these lines; undefined is the end of the input. */
function directory(answers: readonly (string | undefined)[], given: Given = {}) {
  const { terminal = true, json = false, settings = { env: { PAGER: "x" } } } = given;
  const cwd = temporaryDirectory();
  const root = join(cwd, "home");
  mkdirSync(join(cwd, ".claude"));
  writeFileSync(join(cwd, ".claude", "settings.json"), JSON.stringify(settings));
  let said = "";
  const left = [...answers];
  const io = {
    env: { TEAMS_HOME: root, HOME: cwd },
    cwd,
    terminal: { stdin: terminal, stdout: terminal, stderr: terminal },
    out: (text: string) => {
      said += text;
    },
    readLine: () => {
      if (left.length === 0) throw new Error("Nobody was to be asked.");
      return Promise.resolve(left.shift());
    },
  } as unknown as Io;
  const options = { json, quiet: false, verbose: false, team: undefined, as: undefined };
  return {
    ask: () => askTrust({ io, options, out: openOutput(io, options) }),
    said: () => said,
    trust: () => trustDecision(root, cwd),
    asked: () => answers.length - left.length,
    root,
  };
}

describe("a run in a directory that brings settings (S70)", () => {
  it.each([
    ["y", true],
    ["yes ", true],
    ["Y", true],
    ["n", false],
    ["", false],
    ["why?", false],
  ])("asks once whether they count, and %j means %s", async (answer, trusted) => {
    const there = directory([answer]);
    await there.ask();
    expect(there.said()).toMatch(/settings\.json: env\n.*\[y\/N\] /s);
    expect(there.trust()).toBe(trusted);
    await there.ask();
    expect(there.asked()).toBe(1);
  });

  it("asks again where the input ended without an answer", async () => {
    const there = directory([undefined, "y"]);
    await there.ask();
    expect(there.trust()).toBeUndefined();
    await there.ask();
    expect(there.trust()).toBe(true);
  });

  it.each<[string, Given]>([
    ["nobody is there", { terminal: false }],
    ["an answer would spoil the output", { json: true }],
    ["it only takes rights away", { settings: { permissions: { deny: ["Bash"] } } }],
  ])("asks nobody where %s", async (_, given) => {
    const there = directory([], given);
    await there.ask();
    expect([there.said(), existsSync(join(there.root, "teams-trust.json"))]).toEqual(["", false]);
  });
});

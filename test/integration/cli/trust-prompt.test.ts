import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askTrust } from "../../../src/cli/trust-prompt.ts";
import { loadSettings } from "../../../src/settings/settings.ts";
import { trustDecision } from "../../../src/settings/trust.ts";
import type { Io } from "../../../src/terminal/io.ts";
import { openOutput } from "../../../src/terminal/output.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

interface Given {
  readonly terminal?: boolean;
  readonly json?: boolean;
  readonly settings?: object;
}

/** A directory with settings, and a user who types these lines; undefined is the end of the input. */
function directory(answers: readonly (string | undefined)[], given: Given = {}) {
  const { terminal = true, json = false, settings = { env: { PAGER: "x" } } } = given;
  const cwd = temporaryDirectory();
  const root = join(cwd, "home");
  mkdirSync(join(cwd, ".claude"));
  writeFileSync(join(cwd, ".claude", "settings.json"), JSON.stringify(settings));
  let printed = "";
  const left = [...answers];
  const io = {
    env: { TEAMS_HOME: root, HOME: cwd },
    cwd,
    terminal: { stdin: terminal, stdout: terminal, stderr: terminal },
    out: (text: string) => {
      printed += text;
    },
    dropTyped: () => Promise.resolve(),
    readLine: () => {
      if (left.length === 0) throw new Error("The prompt asked more often than the test expects.");
      return Promise.resolve(left.shift());
    },
  } as unknown as Io;
  const options = { json, quiet: false, verbose: false, team: undefined, as: undefined };
  return {
    ask: () => askTrust({ io, options, out: openOutput(io, options), runProgram: async () => 0 }),
    printed: () => printed,
    trust: () => trustDecision(root, cwd),
    change: (next: object) => writeFileSync(join(cwd, ".claude", "settings.json"), JSON.stringify(next)),
    env: () => loadSettings(root, cwd, "/nowhere").env,
    asked: () => answers.length - left.length,
    root,
  };
}

describe("trust prompt (S70)", () => {
  it.each([
    ["y", true],
    ["yes ", true],
    ["Y", true],
    ["n", false],
    ["", false],
    ["why?", false],
  ])(
    "asks once for a directory with settings, and the answer %j sets trust to %s",
    async (answer, trusted) => {
      const prompt = directory([answer]);
      await prompt.ask();
      expect(prompt.printed()).toMatch(/settings\.json: env\n.*\[y\/N\] /s);
      expect(prompt.trust()).toBe(trusted);
      await prompt.ask();
      expect(prompt.asked()).toBe(1);
    },
  );

  it.each([
    ["y", { PAGER: "x", EDITOR: "y" }],
    ["n", { PAGER: "x" }],
  ])("asks again about a part that has changed since, and shows it; %j leaves %j", async (answer, env) => {
    const prompt = directory(["y", answer]);
    await prompt.ask();
    prompt.change({ env: { PAGER: "x", EDITOR: "y" } });
    expect(prompt.env()).toEqual({ PAGER: "x" });
    await prompt.ask();
    expect(prompt.printed()).toMatch(
      /have changed since you trusted it.*\n {2}\.claude\/settings\.json: env\.EDITOR: "y"\n/,
    );
    expect([prompt.env(), prompt.trust()]).toEqual([env, true]);
  });

  it("asks again if the input ended without an answer", async () => {
    const prompt = directory([undefined, "y"]);
    await prompt.ask();
    expect(prompt.trust()).toBeUndefined();
    await prompt.ask();
    expect(prompt.trust()).toBe(true);
  });

  it.each<[string, Given]>([
    ["there is no terminal", { terminal: false }],
    ["--json is given", { json: true }],
    ["the settings only deny", { settings: { permissions: { deny: ["Bash"] } } }],
  ])("does not ask if %s", async (_, given) => {
    const prompt = directory([], given);
    await prompt.ask();
    expect([prompt.printed(), existsSync(join(prompt.root, "teams-trust.json"))]).toEqual(["", false]);
  });
});

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../../src/os/clock.ts";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { createNotifier } from "../../../../src/runtime/notify/notifier.ts";
import { settingsSchema } from "../../../../src/settings/settings-schema.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** Creates a notifier for a teammate with this teams.notify setting, in its own directory. */
async function start(notify: unknown, { agent = "dev", env = {} as Record<string, string> } = {}) {
  const ref = await testTeam(["dev"]);
  const cwd = dirname(ref.home.root);
  const problems: string[] = [];
  let settings = {
    ...settingsSchema.parse({ teams: { notify } }),
    ignored: [] as string[],
    ignoredReason: "",
  };
  const notifier = createNotifier({
    settings: () => settings,
    ref,
    agent,
    cwd,
    env: { PATH: process.env.PATH, ...env },
    clock: systemClock,
    problem: (text) => problems.push(text),
  });
  onTestFinished(() => notifier.close());
  const file = (name: string): string => {
    const path = join(cwd, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  const written = (name: string, text: string) =>
    eventually(`${text} in ${name}`, () => file(name).includes(text));
  const change = (next: unknown): void => {
    settings = { ...settingsSchema.parse({ teams: { notify: next } }), ignored: [], ignoredReason: "" };
  };
  return { ref, cwd, notifier, problems, file, written, change };
}

describe("teams.notify (S63)", () => {
  it("runs a shell command with the text as its first argument and as JSON on stdin", async () => {
    const { notifier, file, written } = await start(
      'printf "%s\\n" "$1" >> said; cat >> heard; echo . >> done',
    );
    notifier.notify("dev asks: Bash(echo $(touch made); `touch made`)\nnow \x1b[31mred", "lead");
    await written("done", ".");
    expect(file("said")).toBe("Team crew: dev asks: Bash(echo $(touch made); `touch made`) now red\n");
    expect(JSON.parse(file("heard"))).toEqual({ team: "crew", agent: "dev", text: file("said").trimEnd() });
    expect(file("made")).toBe("");
  });

  it("replaces a lone surrogate", async () => {
    const { notifier, file, written } = await start("cat >> heard; echo . >> done");
    notifier.notify("dev asks: \ud83d", "lead");
    await written("done", ".");
    expect(file("heard")).not.toMatch(/\\ud[89a-f]/);
    expect(JSON.parse(file("heard"))).toMatchObject({ text: expect.stringMatching(/asks: \ufffd$/) });
  });

  it("ends a shortened text with …", async () => {
    const { notifier, file, written } = await start('printf "%s\\n" "$1" >> said; echo . >> done');
    notifier.notify(`dev asks: Bash(${"x".repeat(600)} && rm -rf .)`, "lead");
    await written("done", ".");
    expect(file("said")).toMatch(/x…\n$/);
    expect(file("said").trimEnd()).toHaveLength(500);
  });

  it("runs an array without a shell, with the text as the last argument", async () => {
    const { cwd, notifier, change, written, file } = await start("true");
    const program = join(cwd, "call me");
    writeFileSync(program, '#!/bin/sh\nprintf "%s|" "$@" > said\necho . > done\n');
    chmodSync(program, 0o700);
    change([program, "-t", "$HOME"]);
    notifier.notify("something waits", "person");
    await written("done", ".");
    expect(file("said")).toBe("-t|$HOME|Team crew: something waits|");
  });

  it("gets the team in its environment, without API keys, and a redacted text", async () => {
    const env = { ANTHROPIC_API_KEY: "sk-ant-0123456789", MY_TOKEN: "tok-0123456789" };
    const { notifier, file, written } = await start('env > seen; echo "$1" > said; echo . > done', { env });
    notifier.notify("dev asks: Bash(curl -H tok-0123456789)", "lead");
    await written("done", ".");
    expect(file("seen")).toContain("TEAMS_TEAM=crew");
    expect(file("seen")).not.toContain("ANTHROPIC_API_KEY");
    expect(file("said")).not.toContain("tok-0123456789");
  });

  it("leaves requests of a teammate to the running lead", async () => {
    const { ref, notifier, file, written } = await start('echo "$1" >> said');
    await updateTeam(ref, (config) => ({ ...config, leadProcess: { ...ownIdentity(), claimedAt: 1 } }));
    notifier.notify("dev asks", "lead");
    notifier.notify("dev's budget is spent", "person");
    await written("said", "budget");
    expect(file("said")).not.toContain("asks");
  });

  it("runs one command at a time, in order, and drops excess notifications", async () => {
    const { cwd, notifier, file, written } = await start(
      'echo "$1" >> said; until [ -e go ]; do sleep 0.01; done',
    );
    for (let i = 1; i <= 30; i += 1) notifier.notify(`call ${i}.`, "person");
    await written("said", "call 1.");
    expect(file("said")).toBe("Team crew: call 1.\n");
    writeFileSync(join(cwd, "go"), "");
    await written("said", "call 9.");
    notifier.notify("the last", "person");
    await written("said", "the last");
    expect(
      file("said")
        .match(/\d+(?=\.)/g)
        ?.map(Number),
    ).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("reports a failing command once for each setting", async () => {
    const { notifier, problems, change, file, written } = await start("echo no bus >&2; exit 3");
    notifier.notify("one", "person");
    notifier.notify("two", "person");
    await eventually("the problem", () => problems.length === 1);
    change(["/nowhere/at/all"]);
    notifier.notify("three", "person");
    await eventually("the second problem", () => problems.length === 2);
    change("a\0b");
    notifier.notify("four", "person");
    await eventually("the third problem", () => problems.length === 3);
    change('echo "$1" > said');
    notifier.notify("five", "person");
    await written("said", "five");
    expect(file("said")).toBe("Team crew: five\n");
    expect(problems[0]).toBe("teams.notify failed, so you were not notified: exit code 3: no bus");
    expect(problems[1]).toContain("ENOENT");
    expect(problems).toHaveLength(3);
  });

  it("runs nothing without a setting, and applies a new setting at once", async () => {
    const { notifier, change, written, file } = await start(undefined);
    notifier.notify("one", "person");
    change('echo "$1" >> said');
    notifier.notify("two", "person");
    await written("said", "two");
    expect(file("said")).not.toContain("one");
  });
});

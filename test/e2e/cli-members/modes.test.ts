import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type MemberTeam, memberTeam } from "../../support/cli/member-team.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";

const acp = scriptFile("cli/acp");
const http = scriptFile("cli/http");

const MODES = { default: "ask", plan: "look" };
/** The stand-ins log the mode of each prompt, or each change of mode, under `key`. */
const ACP = { channel: "acp", file: acp, place: "process", modes: MODES, key: "mode" } as const;
const HTTP = { channel: "http", file: http, place: "tmux", modes: MODES, key: "agent" } as const;
const CLIS = [
  { cli: "a CLI over the Agent Client Protocol", ...ACP, marks: [] },
  { cli: "a CLI whose modes are an option", ...ACP, marks: ["mode-option"] },
  { cli: "OpenCode", ...HTTP, marks: [] },
] as const;

/** The CLI's own modes, without repetitions. */
function ownModes({ log }: MemberTeam, key: string): readonly unknown[] {
  const modes = log().flatMap((line) => (key in line ? [line[key]] : []));
  return modes.filter((mode, at) => mode !== modes[at - 1]);
}

it.each(CLIS)(
  "$cli › plans in its own plan mode, and leaves it when its plan is approved",
  async ({ channel, file, place, modes, key, marks }) => {
    const rules = { permissions: { allow: ["Bash(touch:*)"] } };
    const own = await memberTeam(file(), { channel, modes }, place, rules);
    const { spawn, approval, teams, prompted, leadGot, repo } = own;
    for (const mark of marks) own.mark(mark);
    const plan = `tool: ExitPlanMode ${JSON.stringify({ plan: "Touch one file." })}`;
    const spawned = await spawn(`run: touch early\n${plan}\nsay: planned`, "--plan");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    const { id, kind } = await approval();
    expect(kind).toBe("plan");
    expect((await teams("approvals", id)).out).toContain("Touch one file.");
    expect(ownModes(own, key)).toEqual([modes.plan]);
    expect((await teams("approve", id)).code).toBe(0);
    await prompted("is approved");
    await teams("send", "ada", "run: touch later\nsay: carried out");
    await leadGot("carried out");
    expect(["early", "later"].map((name) => existsSync(join(repo, name)))).toEqual([false, true]);
    expect(ownModes(own, key)).toEqual([modes.plan, modes.default]);
  },
);

it("teams mode › changes what a running CLI may do, and its own mode", async () => {
  const modes = { default: "ask", acceptEdits: "edits" };
  const own = await memberTeam(acp(), { channel: "acp", modes }, "process");
  const { spawn, approval, approvals, teams, leadGot, state, repo } = own;
  await spawn("say: ready");
  await leadGot("ready");
  expect((await teams("mode", "ada", "acceptEdits")).code).toBe(0);
  await teams("send", "ada", "edit: unasked.txt\nsay: edited");
  await leadGot("edited");
  expect(await approvals()).toEqual([]);
  expect((await teams("mode", "ada", "default")).code).toBe(0);
  await teams("send", "ada", "edit: asked.txt\nsay: over");
  const { id, summary } = await approval();
  expect(summary).toContain("asked.txt");
  await teams("reject", id);
  await state("ada", "idle");
  expect(["unasked.txt", "asked.txt"].map((name) => existsSync(join(repo, name)))).toEqual([true, false]);
  expect(ownModes(own, "mode")).toEqual(["ask", "edits", "ask"]);
});

it("a CLI that hangs in a change of its mode › gets an interrupted message at the start of its next turn", async () => {
  const modes = { default: "ask", acceptEdits: "edits" };
  const own = await memberTeam(acp(), { channel: "acp", modes }, "process");
  const { spawn, state, teams, leadGot, log, mark, unmark } = own;
  const changes = (): number => log().filter(({ mode }) => mode === "edits").length;
  await spawn("say: ready");
  await leadGot("ready");
  mark("mode-hangs");
  expect((await teams("mode", "ada", "acceptEdits")).code).toBe(0);
  await teams("send", "ada", "say: interrupted");
  await eventually("the change that hangs", () => changes() === 1);
  await teams("interrupt", "ada");
  await state("ada", "idle");
  await teams("send", "ada", "say: wanted");
  await eventually("the second change", () => changes() === 2);
  unmark("mode-hangs");
  await leadGot("wanted");
  const prompts = log().flatMap(({ prompt }) => (prompt === undefined ? [] : [String(prompt)]));
  expect(prompts).toEqual([
    expect.stringContaining("say: ready"),
    expect.stringMatching(/ended before you received the text.*say: interrupted.*say: wanted/s),
  ]);
});

it.each([
  { kind: "session modes", marks: [] },
  { kind: "a mode option", marks: ["mode-option"] },
])("a CLI with $kind › has its mode set again after it changed the mode itself", async ({ marks }) => {
  const own = await memberTeam(acp(), { channel: "acp", modes: { default: "ask" } }, "process");
  const { spawn, teams, leadGot, log, mark } = own;
  for (const one of marks) mark(one);
  const changes = () => log().flatMap(({ mode }) => (mode === undefined ? [] : [mode]));
  await spawn("say: ready");
  await leadGot("ready");
  await teams("send", "ada", "mode: auto\nsay: left it");
  await leadGot("left it");
  expect(changes()).toEqual(["ask"]);
  await teams("send", "ada", "say: asks again");
  await leadGot("asks again");
  expect(changes()).toEqual(["ask", "ask"]);
});

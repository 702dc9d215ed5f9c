import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { ring } from "../../../src/wakeup/fifo-bell.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { countForks } from "../../support/processes/count-forks.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const NAMES = ["ada", "bob", "cyd", "dan"] as const;

const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      { tools: NAMES.map((name) => ({ name: "Agent", input: { name, prompt: `hello ${name}` } })) },
      { say: "All are there." },
    ],
    "*": [{ say: "I heard {{input}}", repeat: true }],
  },
};

/** Milliseconds of the third wait of the slow check, which begins after fifteen seconds without a bell. */
const THIRD_WAIT = 20_000;

/** Prepares commands in the user's tmux server, and counts every fork. */
function counted() {
  const t = privateTmux();
  const { pane } = t.session();
  const forks = countForks(t);
  const teams = teamsIn({ ...t.inside(pane), ...forks.env }, t.home);
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  /** Runs a command, and returns its tmux calls and the number of all its forks. */
  const costOf = async (...words: string[]): Promise<{ readonly calls: string[]; readonly all: number }> => {
    const argv = new RegExp(`^${words.join(" ").replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
    const before = { calls: forks.tmux(argv).length, all: forks.all(argv) };
    const ended = await teams(words);
    expect(ended.code, ended.err).toBe(0);
    return { calls: forks.tmux(argv).slice(before.calls), all: forks.all(argv) - before.all };
  };
  return { t, forks, costOf };
}

it("tmux calls › each operation makes only the calls that it needs, and an idle team none", async () => {
  const { t, forks, costOf } = counted();
  const ref = teamRef({ root: t.root, runtime: "" }, "crew");
  const idle = (): Promise<unknown> =>
    eventually("idle teammates", () => NAMES.every((name) => isAtRest(ref, name)));
  await costOf("create", "crew");
  const costs: Record<string, number> = {};
  const count = async (operation: string, ...words: string[]): Promise<void> => {
    const { calls, all } = await costOf(...words);
    costs[operation] = calls.length;
    // A spawn also makes FIFOs and records a snapshot of the user's shell.
    if (!operation.startsWith("spawn")) expect([operation, all - calls.length]).toEqual([operation, 0]);
  };
  for (const name of NAMES) await count(`spawn ${name}`, "spawn", name, "--model", "scripted:play.json");
  await idle();
  await count("status", "status");
  await count("status --json", "status", "--json");
  await count("send", "send", "ada", "look here");
  await count("peek", "peek", "bob");
  await count("layout", "layout", "tiled");
  await count("hide", "hide", "bob");
  await count("show", "show", "bob");
  await count("wait", "wait", "--idle");
  await idle();
  const teammates = /--agent-name/;
  const waits = (): number => forks.timers(teammates).filter((ms) => ms === THIRD_WAIT).length;
  const before = { calls: forks.tmux(teammates).length, all: forks.all(teammates), waits: waits() };
  // Each teammate now wakes up, finds no work, and waits again.
  for (const name of NAMES) expect(ring(readStatus(ref, name)?.bell ?? "")).toBe("rung");
  await eventually("fifteen quiet seconds of each", () => waits() >= before.waits + NAMES.length);
  costs["tmux in idle"] = forks.tmux(teammates).length - before.calls;
  costs["anything in idle"] = forks.all(teammates) - before.all;
  await count("kill of one", "kill", "ada");
  await count("kill of the others", "kill", "crew");
  expect(costs).toEqual({
    ...Object.fromEntries(NAMES.map((name) => [`spawn ${name}`, 3])),
    status: 1,
    "status --json": 1,
    send: 0,
    peek: 1,
    layout: 2,
    hide: 2,
    show: 2,
    wait: 0,
    "tmux in idle": 0,
    "anything in idle": 0,
    // No listing: each command's condition names the owner of the pane.
    "kill of one": 1,
    "kill of the others": 1,
  });
  await leaves(t, { ...nothing(["work:cat"]), teams: expect.any(Array) });
});

it("tmux calls › a run makes three calls for the starts of one turn, one for all ends, and one watch", async () => {
  const { costOf } = counted();
  const { calls } = await costOf("run", "--team", "crew", "--playbook", "play.json", "--json");
  const verbs = calls.map((call) => /^-u -S \S+ (\S+( -S)?)/.exec(call)?.[1] ?? call);
  const times = (verb: string): number => verbs.filter((one) => one === verb).length;
  expect([times("list-panes"), times("source-file")]).toEqual([1, 2 + 1]);
  expect([times("wait-for"), times("wait-for -S")]).toEqual([1, 1]);
  expect(calls).toHaveLength(3 + 1 + 2);
});

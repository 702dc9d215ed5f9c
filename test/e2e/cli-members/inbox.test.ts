import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import { MARK_MS } from "../../../src/runtime/teammate/own-inbox-report.ts";
import { testMemberContract } from "../../support/cli/member-contract.ts";
import { memberTeam } from "../../support/cli/member-team.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/inbox");
const ADAPTER: Omit<AdapterInput, "command"> = {
  channel: "inbox",
  resume: "resume",
  reports: ["tokens"],
  modelArgs: ["--model", "{model}"],
  modes: { default: "default", acceptEdits: "acceptEdits", plan: "plan" },
};

testMemberContract({
  adapter: ADAPTER,
  file,
  conversation: ["session"],
  showDialog: ({ place, repo }) => {
    const memory = { hasCompletedOnboarding: true, projects: { [repo]: { hasTrustDialogAccepted: false } } };
    writeFileSync(join(place.root, ".claude.json"), JSON.stringify(memory));
  },
});

async function team(settings: Readonly<Record<string, unknown>> = {}) {
  const own = await memberTeam(file(), ADAPTER, "tmux", settings);
  const config = () =>
    JSON.parse(readFileSync(own.place.paths("crew").config, "utf8")) as {
      members: Record<string, unknown>[];
    };
  return { ...own, config };
}

describe("a CLI that reads its inbox itself", () => {
  it("works like any other member: first message, its own screen, last words, exact state", async () => {
    const { spawn, state, log, leadGot, teams, paneShowing, ada, config } = await team();
    const spawned = await spawn(
      "say: hello from the other make",
      "--allowed-tools",
      "Bash(ls:*)",
      "--model",
      "opus",
    );
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await leadGot("hello from the other make");
    const pane = await paneShowing();
    await state("ada", "idle");
    expect((await ada())?.stateFrom).toBe("hook");
    await eventually("ada's tokens", async () => (await ada())?.tokens?.output === 5);
    const {
      words,
      files,
      servers,
      teams: isTeammate,
    } = log()[0] as Record<string, unknown> & {
      readonly words: readonly string[];
    };
    expect(words.join(" ")).toMatch(
      /^--agent-id ada@crew --agent-name ada --team-name crew --agent-color blue --parent-session-id \S+ --agent-type general-purpose --allowedTools Bash\(ls:\*\),mcp__teams --permission-mode default --model opus --settings \S+ --mcp-config \S+$/,
    );
    expect([files, isTeammate]).toEqual([["600", "600"], "1"]);
    expect(servers).toMatchObject({ mcpServers: { teams: { type: "stdio" } } });
    expect(config().members[1]).toMatchObject({
      ...{ agentId: "ada@crew", name: "ada", agentType: "general-purpose", model: "opus", color: "blue" },
      ...{ prompt: "say: hello from the other make", tmuxPaneId: pane, backendType: "tmux", mode: "default" },
    });
    await teams("send", "ada", "say: second");
    await leadGot("second");
    expect((await teams("logs", "ada")).out).toContain("the screen of the stand-in");
    expect(log().filter((line) => "hook" in line)).toEqual([]);
  });

  it("starts in its own plan mode with --plan, with the arguments that its own lead passes", async () => {
    const { spawn, leadGot, log } = await team();
    const spawned = await spawn("say: plans", "--plan");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await leadGot("plans");
    const words = ((log()[0]?.words ?? []) as readonly string[]).join(" ");
    expect(words).toContain("--agent-type general-purpose --plan-mode-required --allowedTools");
    expect(words.match(/--permission-mode \S+/g)).toEqual(["--permission-mode plan"]);
  });

  it("asks for permission through teams approvals, and gets the answer", async () => {
    const { spawn, state, approval, approvals, teams, repo, ada, log } = await team();
    await spawn("run: touch asked\nrun: touch refused");
    const first = await approval();
    expect(first.summary).toContain("touch asked");
    await state("ada", "needs-input");
    expect(await ada()).toMatchObject({
      stateFrom: "request",
      activity: expect.stringContaining("touch asked"),
    });
    expect((await teams("approve", first.id)).code).toBe(0);
    const second = await eventually("the second request", async () =>
      (await approvals()).find(({ id }) => id !== first.id),
    );
    expect((await teams("reject", second.id)).code).toBe(0);
    await state("ada", "idle");
    expect(["asked", "refused"].map((name) => existsSync(join(repo, name)))).toEqual([true, false]);
    // The tool result of 2 MB broke no hook.
    expect(log().filter((line) => "hook" in line)).toEqual([]);
  });

  it("runs what a person types on its own screen, and shows its question", async () => {
    const { spawn, state, leadGot, type, ada } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    await type("asks");
    await state("ada", "needs-input");
    expect(await ada()).toMatchObject({ stateFrom: "hook", activity: "may it go on" });
    await type("yes");
    await state("ada", "idle");
    await type("say: typed by a person");
    await leadGot("typed by a person");
  });

  it("shows a startup dialog, and its remedy, and presses no key", async () => {
    const { spawn, state, leadGot, type, ada, place, repo, teams, paneShowing } = await team();
    const memory = { hasCompletedOnboarding: true, projects: { [repo]: { hasTrustDialogAccepted: false } } };
    writeFileSync(join(place.root, ".claude.json"), JSON.stringify(memory));
    expect((await spawn("say: trusted")).code).toBe(0);
    await state("ada", "needs-input");
    expect((await ada())?.activity).toBe(
      `fake is waiting for a person at the directory trust dialog: answer whether it may work in ${repo} (teams attach ada)`,
    );
    for (const words of [
      ["interrupt", "ada"],
      ["type", "ada", "yes"],
      ["keys", "ada", "Enter"],
    ]) {
      const { code, err } = await teams(...words);
      expect([code, err]).toEqual([1, expect.stringContaining("a startup dialog may be open there")]);
    }
    expect(await paneShowing("Do you trust the files")).toBeDefined();
    await type("yes", "Do you trust the files");
    await leadGot("trusted");
    await state("ada", "idle");
  });

  it("survives lost config changes, 10 MB of output, a request after its turn and a failed turn", async () => {
    const { spawn, state, leadGot, teams, approval, ada, config } = await team();
    await spawn("big\nafter\nsay: still here");
    await leadGot("still here");
    expect((await approval()).summary).toContain("touch after");
    await Promise.all(
      Array.from({ length: 3 }, (_, at) =>
        teams("spawn", `w${at}`, "--model", "scripted", "--teammate-mode", "tmux"),
      ),
    );
    await teams("approve", (await approval()).id);
    await teams("send", "ada", "say: and after it");
    await leadGot("and after it");
    await eventually("all members", () => config().members.length === 5);
    await teams("send", "ada", "fail: no credit");
    await state("ada", "failed");
    expect(await ada()).toMatchObject({ activity: "no credit", stateFrom: "notice" });
  });

  it("cannot have a budget, but counts towards the team's budget", async () => {
    const { spawn, leadGot, teams, ada } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    const refused = await teams("budget", "ada", "--max-tokens", "1000");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("cannot stop ada at a limit")]);
    await eventually("ada's tokens", async () => (await ada())?.tokens?.output === 5);
    const { code, err, out } = await teams("budget", "--max-tokens", "100000");
    expect([code, err, out]).toEqual([0, "", expect.stringContaining("15 of 100,000 tokens")]);
  });

  it("is interrupted, and then takes the next message", async () => {
    const { spawn, state, teams, leadGot, logged, ada, inbox } = await team();
    await spawn("stay");
    await logged({ stays: true });
    await state("ada", "running");
    expect(await ada()).toMatchObject({ stateFrom: "hook", activity: "Bash: sleep 1000" });
    const { code, out } = await teams("interrupt", "ada", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([0, { outcome: "pressed" }]);
    await logged({ interrupted: true });
    await state("ada", "idle");
    await leadGot("interrupted");
    expect((await ada())?.stateFrom).toBe("interrupt");
    expect((await inbox()).split('\\"idleReason\\":\\"interrupted').length - 1).toBe(1);
    await teams("send", "ada", "say: after it");
    await leadGot("after it");
  });

  it("is interrupted, and then idle, in a turn that its process has not reported", async () => {
    const { spawn, state, teams, leadGot, logged, ada } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    await state("ada", "idle");
    const watcher = Number((await ada())?.pid);
    process.kill(watcher, "SIGSTOP");
    try {
      await teams("send", "ada", "stay");
      await logged({ stays: true });
      const { code, out } = await teams("interrupt", "ada", "--json");
      expect([code, JSON.parse(out)]).toMatchObject([0, { outcome: "pressed" }]);
      await logged({ interrupted: true });
    } finally {
      process.kill(watcher, "SIGCONT");
    }
    await leadGot('\\"idleReason\\":\\"interrupted');
    await state("ada", "idle");
    expect((await ada())?.stateFrom).toBe("interrupt");
  });

  it("is idle after a turn that began and ended between two polls, and running until the second", async () => {
    const { spawn, state, leadGot, teams, ada } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    await state("ada", "idle");
    const watcher = Number((await ada())?.pid);
    process.kill(watcher, "SIGSTOP");
    try {
      await teams("send", "ada", "say: quick");
      await leadGot("quick");
      const noticed = Date.now();
      await eventually("the notice to be too old to count as late", () => Date.now() > noticed + 2 * MARK_MS);
      expect(await ada()).toMatchObject({ state: "running", stateFrom: "inbox" });
    } finally {
      process.kill(watcher, "SIGCONT");
    }
    // The watcher adds a turn's tokens at the end of the poll that notices the turn.
    await eventually("the tokens of both turns", async () => (await ada())?.tokens?.output === 10);
    expect((await ada())?.state).toBe("idle");
  });

  it("is idle after a short turn whose message it took late", async () => {
    const { spawn, state, leadGot, teams, ada, logged, mark } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    await state("ada", "idle");
    const watcher = Number((await ada())?.pid);
    await teams("send", "ada", "early\nsay: quick");
    await logged({ early: true });
    await state("ada", "running");
    process.kill(watcher, "SIGSTOP");
    mark("take");
    await leadGot("quick").finally(() => process.kill(watcher, "SIGCONT"));
    await state("ada", "idle");
  });

  it("is idle after a short turn whose idle notice was written late", async () => {
    const { spawn, state, leadGot, teams, logged, mark } = await team();
    await spawn("say: ready");
    await leadGot("ready");
    await state("ada", "idle");
    await teams("send", "ada", "late\nno more");
    await logged({ late: true });
    await state("ada", "running");
    mark("notice");
    await leadGot("was late");
    await state("ada", "idle");
  });

  it("continues its conversation after a crash, and its tasks are unassigned meanwhile", async () => {
    const { spawn, state, teams, log, leadGot } = await team();
    await spawn("say: remember 42");
    await state("ada", "idle");
    await teams("task", "add", "Count");
    await teams("task", "update", "1", "--owner", "ada", "--status", "in_progress");
    await teams("send", "ada", "exit: 3");
    await state("ada", "crashed");
    expect((await teams("status", "--json")).out).toContain("these are its last words");
    const { tasks } = (await teams("task", "list", "--json")).json<{ tasks: { owner?: string }[] }>();
    expect(tasks[0]?.owner).toBeUndefined();
    expect((await teams("resume")).code).toBe(0);
    const words = await eventually(
      "its second start",
      () => log().filter((line) => "words" in line)[1]?.words,
    );
    expect((words as string[]).slice(-2)[0]).toBe("--resume");
    await eventually("the note about its turn", () =>
      log().some(({ prompt }) => String(prompt).includes("ended during a turn")),
    );
    await teams("send", "ada", "say: still 42");
    await leadGot("still 42");
    await state("ada", "idle");
    const again = (await teams("task", "list", "--json")).json<{ tasks: { owner?: string }[] }>();
    expect(again.tasks[0]?.owner).toBe("ada");
  });

  it("starts a new conversation if it has lost the earlier one", async () => {
    const { spawn, state, teams, log, leadGot, place } = await team();
    await spawn("say: remember 42");
    await leadGot("remember 42");
    await state("ada", "idle");
    await teams("send", "ada", "exit: 3");
    await state("ada", "crashed");
    const sessions = () => log().flatMap(({ session }) => (typeof session === "string" ? [session] : []));
    rmSync(join(place.root, "projects", "stand-in", `${sessions()[0]}.jsonl`));
    expect((await teams("resume")).code).toBe(0);
    await teams("send", "ada", "say: I am back");
    await leadGot("I am back");
    expect(new Set(sessions()).size).toBe(2);
  });

  it("ends on shutdown with every process that it started", async () => {
    const { spawn, state, teams, logged, log, config, place } = await team();
    await spawn("child");
    await logged({ prompt: "child" });
    await state("ada", "idle");
    const panes = (): number => place.tmux("list-panes", "-a").trim().split("\n").length;
    await teams("spawn", "bob", "--model", "scripted", "--teammate-mode", "tmux");
    const before = panes();
    const ended = await teams("shutdown", "ada", "--timeout", "180");
    expect([ended.code, ended.err]).toEqual([0, ""]);
    expect(config().members.map(({ name }) => name)).toEqual(["team-lead", "bob"]);
    expect(panes()).toBe(before - 1);
    const child = Number(log().find((line) => "child" in line)?.child);
    await eventually("the end of ada's child", () => !existsSync(`/proc/${child}/status`) || isDead(child));
  });

  it("has its config write undone when it is killed during the write: the last copy is restored", async () => {
    const { spawn, state, leadGot, teams, config } = await team();
    await spawn("cuts\nsay: ready");
    await leadGot("ready");
    await state("ada", "idle");
    await teams("spawn", "bob", "--model", "scripted", "--teammate-mode", "process");
    const ended = await teams("kill", "ada", "--force");
    expect([ended.code, ended.err]).toEqual([0, ""]);
    expect(config().members.map(({ name }) => name)).toEqual(["team-lead", "bob"]);
  });

  it("has its config write undone when it exits during the write: the last copy is restored", async () => {
    const { spawn, state, leadGot, teams, config } = await team();
    await spawn("cuts\nsay: ready");
    await leadGot("ready");
    await state("ada", "idle");
    await teams("spawn", "bob", "--model", "scripted", "--teammate-mode", "process");
    const ended = await teams("shutdown", "ada", "--timeout", "180");
    expect([ended.code, ended.err]).toEqual([0, ""]);
    expect(config().members.map(({ name }) => name)).toEqual(["team-lead", "bob"]);
  });

  it("refuses unsupported spawn options, with the reason", async () => {
    const { spawn, teams } = await team();
    const refusals = [
      [["--max-tokens", "10"], "cannot stop it at a limit"],
      [["--sandbox", "required"], "does not run in a sandbox"],
      [["--tools", "Read"], "it has its own tools"],
    ] as const;
    for (const [words, reason] of refusals) {
      const { code, err } = await spawn("say: no", ...words);
      expect([code, err]).toEqual([2, expect.stringContaining(reason)]);
    }
    const named = await teams("spawn", "ada two", "--cli", "fake", "--teammate-mode", "tmux");
    expect([named.code, named.err]).toEqual([2, expect.stringContaining("only letters, digits")]);
  });
});

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { type Finished, teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const PLAYBOOK = {
  version: 1,
  agents: {
    dev: [
      {
        on: { contains: "build it" },
        say: "I build.",
        tools: [
          { name: "TaskUpdate", input: { taskId: "1", owner: "dev", status: "in_progress" } },
          { name: "Bash", input: { command: "echo built > built.txt; cat built.txt" } },
        ],
        usage: { input: 120, output: 30 },
      },
      {
        on: { contains: "built" },
        tools: [
          { name: "TaskUpdate", input: { taskId: "1", status: "completed" } },
          {
            name: "SendMessage",
            input: { type: "message", recipient: "team-lead", content: "It is built." },
          },
        ],
      },
      { say: "done" },
    ],
    "*": [{ on: { contains: "hello" }, say: "I heard {{input}}" }],
  },
};

const KEYS_OF_A_MEMBER = [
  ...[
    "name",
    "agentId",
    "agentType",
    "model",
    "mode",
    "sandbox",
    "color",
    "backend",
    "state",
    "activity",
    "paneId",
    "pid",
  ],
  ...[
    "alive",
    "cwd",
    "worktree",
    "taskIds",
    "unread",
    "mail",
    "tokens",
    "costUsd",
    "budget",
    "startedAt",
    "lastActivityAt",
  ],
  ...["metadata", "exit"],
];

it("a team led by hand › runs from spawn to delete through JSON commands, and leaves nothing", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const run = teamsIn(t.inside(pane), t.home);
  const teams = async <T = Record<string, unknown>>(code: number, ...words: string[]): Promise<T> => {
    const ended: Finished = await run([...words, "--json"]);
    expect([ended.code, ended.err], words.join(" ")).toEqual([code, ""]);
    return ended.json<T>();
  };
  const model = ["--model", `scripted:${join(t.home, "play.json")}`] as const;

  expect(await teams(0, "create", "Crew", "-d", "builds things")).toMatchObject({ team: "crew" });
  expect(await teams(0, "task", "add", "Build it")).toMatchObject({ task: { id: "1", status: "pending" } });
  const dev = await teams<{ paneId: string; pid: number }>(0, "spawn", "dev", ...model);
  expect(dev).toMatchObject({ name: "dev", color: "blue", agentId: "dev@crew", backend: "tmux" });
  expect(await teams(0, "spawn", "helper", ...model)).toMatchObject({ color: "green" });
  expect(await teams(0, "task", "add", "Ship it", "--blocked-by", "1", "--owner", "helper")).toMatchObject({
    task: { id: "2", blockedBy: ["1"] },
  });
  expect(t.tmux("list-windows", "-t", "=work:", "-F", "#{window_name} #{window_panes}").split("\n")).toEqual([
    "mine 1",
    "Crew 2",
  ]);
  expect(await teams(0, "ls")).toMatchObject({ teams: [{ name: "crew" }] });

  expect(await teams(0, "send", "dev", "build it")).toMatchObject({ to: "dev", queuedForRestart: false });
  expect(await teams(0, "broadcast", "hello all")).toMatchObject({ recipients: ["dev", "helper"] });
  const asked = await teams(0, "wait", "helper", "--timeout", "180");
  expect(asked).toMatchObject({ team: "crew" });
  const [approval] = await approvals(() => teams(0, "approvals"));
  expect(approval).toEqual({
    id: expect.stringMatching(/^perm-/),
    kind: "permission",
    from: "dev",
    summary: expect.stringContaining("echo built"),
    at: expect.any(String),
    reason: expect.stringMatching(/^No rule allows/),
    always: ["Bash(echo built)", "Bash(cat built.txt)"],
  });
  const list = await run(["approvals"]);
  expect(list.out).toMatch(/: *\n {2}No rule allows [^\n]+\n *always: Bash\(echo built\)/);
  expect((await teams<{ approvals: object[] }>(0, "status")).approvals).toEqual([approval]);
  expect(await teams(0, "approve", approval?.id ?? "", "--note", "go on")).toMatchObject({ approved: true });
  await teams(0, "wait", "dev", "--timeout", "180");
  await teams(0, "wait", "--message", "--timeout", "180");

  const status = await teams<{ members: object[]; tasks: object }>(0, "status");
  expect(Object.keys(status)).toEqual([
    "team",
    "displayName",
    "leadAlive",
    "members",
    "metadata",
    "tasks",
    "deadlock",
    "approvals",
    "budget",
  ]);
  for (const member of status.members) expect(Object.keys(member)).toEqual(KEYS_OF_A_MEMBER);
  expect(status).toMatchObject({ team: "crew", leadAlive: null, deadlock: null, approvals: [] });
  expect(status.members[1]).toEqual({
    name: "dev",
    agentId: "dev@crew",
    agentType: "general-purpose",
    model: model[1],
    mode: "default",
    sandbox: null,
    color: "blue",
    backend: "tmux",
    state: "idle",
    activity: expect.any(String),
    paneId: dev.paneId,
    pid: dev.pid,
    alive: true,
    cwd: t.home,
    worktree: null,
    taskIds: [],
    unread: 0,
    mail: { queued: 0, delivered: 0, inTurn: 0 },
    tokens: { input: 120, output: 30, cacheRead: 0, cacheWrite: 0 },
    costUsd: 0,
    budget: null,
    startedAt: expect.any(String),
    lastActivityAt: expect.any(String),
    metadata: {},
    exit: null,
  });
  expect(status.tasks).toMatchObject({ pending: 1, inProgress: 0, completed: 1, blocked: 0 });
  const inbox = await teams<{ messages: { from: string; text: string }[] }>(0, "inbox", "--from", "dev");
  expect(inbox.messages.map(({ text }) => text)).toContain("It is built.");
  const peek = await teams<{ lines: string[] }>(0, "peek", "helper");
  expect(peek.lines.join("\n")).toContain("I heard hello all");

  expect(await teams(0, "shutdown", "dev", "--timeout", "180")).toMatchObject({
    shutdowns: [{ name: "dev", outcome: "approved" }],
  });
  expect(await teams(0, "kill", "helper", "--force")).toMatchObject({
    kills: [{ outcome: "killed", left: [] }],
  });
  expect(await teams(0, "delete", "crew")).toEqual({ team: "crew", deleted: true, worktrees: [] });
  await leaves(t, nothing(["work:cat"]));
  expect(t.tmux("list-windows", "-a", "-F", "#{window_name}")).toBe("mine");
});

it("attach › switches the user's client inside tmux, and prints the command outside (S6)", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const inside = teamsIn(t.inside(pane), t.home);
  await inside(["create", "crew"]);
  t.session("other");
  const terminal = await t.attach("=work:");
  const { paneId } = (await inside(["spawn", "dev", "--model", "scripted:play.json", "--json"])).json();
  const shown = () => t.tmux("list-clients", "-F", "#{session_name} #{window_name}");
  expect(shown()).toBe("work mine");
  expect((await inside(["attach", "dev", "--json"])).json()).toEqual({ name: "dev", switched: true });
  expect(shown()).toBe("work crew");
  expect(t.tmux("display-message", "-p", "-t", "=work:", "#{pane_id}")).toBe(paneId);
  expect(terminal.screen()).toContain("dev");
  await inside(["spawn", "helper", "--session", "--model", "scripted:play.json"]);
  expect((await inside(["attach", "helper", "--json"])).json()).toMatchObject({ switched: true });
  expect(shown()).toBe("teams-crew crew");
  const outside = await teamsIn(t.env, t.home)(["attach", "dev"]);
  expect(outside.out).toMatch(/^tmux -\w \S+ attach-session -t '\$\d+:@\d+\.%\d+'\n$/);
});

async function approvals(
  ask: () => Promise<Record<string, unknown>>,
): Promise<{ readonly id: string; readonly from: string }[]> {
  return ((await ask()) as { approvals: { id: string; from: string }[] }).approvals;
}

it("wait › does not report an agent with an unread message as idle", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const words = ["spawn", "helper", "--model", "scripted:play.json", "--json"];
  const { pid } = (await teams(words)).json<{ pid: number }>();
  expect((await teams(["wait", "helper", "--timeout", "180"])).code).toBe(0);
  process.kill(pid, "SIGSTOP");
  await teams(["send", "helper", "hello"]);
  const early = await teams(["wait", "helper", "--timeout", "0.3", "--json"]);
  expect([early.code, early.error().code]).toEqual([5, "TIMEOUT"]);
  process.kill(pid, "SIGCONT");
  expect((await teams(["wait", "helper", "--timeout", "180"])).code).toBe(0);
  expect((await teams(["peek", "helper"])).out).toContain("I heard hello");
});

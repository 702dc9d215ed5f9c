import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HookEvent } from "../../../src/agent/hooks/settings.ts";
import { listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { requestShutdown } from "../../../src/operations/ending/shutdown.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { patchMember } from "../../../src/team/members/members.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { listTasks } from "../../../src/team/tasks/tasks.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { contextOf, type RunningWorker, type WorkerInput } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

type Commands = Partial<Record<HookEvent, string | readonly [matcher: string, command: string]>>;

/** Starts a teammate with these hooks and sends it a first message, unless it is a lead. */
async function working(commands: Commands, input: WorkerInput = {}) {
  const ref = await testTeam(["dev"]);
  const hooks = Object.fromEntries(
    Object.entries(commands).map(([event, given]) => {
      const [matcher, command] = typeof given === "string" ? ["", given] : given;
      return [event, [{ matcher, hooks: [{ type: "command", command }] }]];
    }),
  );
  const { settings, ...rest } = input;
  const dev = await workerOfTest(ref, { mode: "default", settings: { ...settings, hooks }, ...rest });
  if (rest.role !== "lead") await send(ref, "begin");
  const file = (name: string): string => readFileSync(join(dev.cwd, name), "utf8");
  return { ref, dev, file, made: (name: string) => existsSync(join(dev.cwd, name)) };
}

const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
const isIdle = (ref: TeamRef, name = "dev") => readStatus(ref, name)?.state === "idle";
const untilIdle = (ref: TeamRef, dev: RunningWorker) =>
  eventually("the idle state", () => dev.inputs.length > 0 && isIdle(ref));
const bash = (command: string) => ({ name: "Bash", input: { command } });
const results = ({ messages }: RunningWorker): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
  );
const notices = async (ref: TeamRef) =>
  (await history(ref, LEAD_NAME, { all: true })).filter(({ text }) => text.includes("idle_notification"));

describe("TeammateIdle hook (S65)", () => {
  const once = "[ -e sent ] || { touch sent; echo 'run the tests first' >&2; exit 2; }";

  it("starts another turn with exit code 2, and the lead gets one idle notice", async () => {
    const { ref, dev, file } = await working(
      { TeammateIdle: `cat >> asked; echo >> asked; ${once}` },
      { turns: [{ say: "done" }, { on: { contains: "run the tests" }, say: "they pass" }] },
    );
    await eventually("both turns", () => dev.inputs.length === 2 && isIdle(ref));
    expect(dev.inputs[1]).toBe("[from the user's TeammateIdle hook]\nrun the tests first");
    const asked = file("asked")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      hook_event_name: "TeammateIdle",
      teammate_name: "dev",
      team_name: "crew",
      session_id: "session-dev",
      stop_hook_active: false,
    });
    expect(asked[1]).toMatchObject({ stop_hook_active: true });
    const sent = await notices(ref);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.text).toContain("they pass");
  });

  it("starts at most maxContinuations turns in a row, and again after other work", async () => {
    const { ref, dev, file } = await working(
      { TeammateIdle: "echo >> count; echo again >&2; exit 2" },
      { settings: { teams: { hooks: { maxContinuations: 3 } } }, turns: [{ say: "ok", repeat: true }] },
    );
    await untilIdle(ref, dev);
    expect(dev.inputs).toHaveLength(4);
    expect(file("count").length).toBe(3);
    expect(dev.shown).toContainEqual(expect.stringContaining("3 times in a row"));
    await send(ref, "more");
    await eventually("the next turns", () => dev.inputs.length === 8 && isIdle(ref));
    expect(file("count").length).toBe(6);
  });

  it("lets the member go idle if it fails, and the pane shows the failure", async () => {
    const { ref, dev } = await working(
      { TeammateIdle: "echo broken >&2; exit 1" },
      { turns: [{ say: "ok" }] },
    );
    await untilIdle(ref, dev);
    expect(dev.inputs).toHaveLength(1);
    expect(dev.shown).toContainEqual(expect.stringMatching(/TeammateIdle.*exit code 1: broken/));
  });

  it("is not run after a failed turn", async () => {
    const error = { status: 400, type: "invalid_request_error" };
    const { ref, dev, made } = await working(
      { Stop: "touch asked; exit 2", TeammateIdle: "touch asked; exit 2" },
      { turns: [{ error }] },
    );
    await untilIdle(ref, dev);
    expect([dev.inputs.length, made("asked")]).toEqual([1, false]);
  });

  it("does not delay a shutdown", async () => {
    const { ref, dev } = await working({ TeammateIdle: "exit 0" }, { turns: [{ say: "ok" }] });
    await untilIdle(ref, dev);
    await requestShutdown(contextOf(ref), ["dev"]);
    expect(await dev.ended).toBe("shutdown");
  });
});

describe("Stop hook", () => {
  it("runs before TeammateIdle and receives the agent and its transcript", async () => {
    const { ref, dev, file } = await working(
      {
        Stop: "cat > stop; echo stop >> order; [ -e one ] || { touch one; echo 'say more' >&2; exit 2; }",
        TeammateIdle: "echo idle >> order",
      },
      { turns: [{ say: "ok", repeat: true }] },
    );
    await eventually("both turns", () => dev.inputs.length === 2 && isIdle(ref));
    expect(file("order")).toBe("stop\nstop\nidle\n");
    const event = JSON.parse(file("stop")) as { agent_transcript_path: string };
    expect(event).toMatchObject({ agent_id: "dev@crew", agent_type: "general-purpose" });
    expect(existsSync(event.agent_transcript_path)).toBe(true);
  });

  it("runs for a lead with the type in its team's config, without TeammateIdle", async () => {
    const { ref, dev, file, made } = await working(
      {
        Stop: "cat > stop; [ -e one ] || { touch one; echo 'end your team' >&2; exit 2; }",
        TeammateIdle: "touch idle",
      },
      { name: LEAD_NAME, role: "lead", turns: [{ say: "ok", repeat: true }] },
    );
    await patchMember(ref, LEAD_NAME, { agentType: "architect" });
    await dev.worker.handleTypedLine("begin");
    await eventually("both turns", () => dev.inputs.length === 2 && isIdle(ref, LEAD_NAME));
    expect(JSON.parse(file("stop"))).toMatchObject({ agent_id: "team-lead@crew", agent_type: "architect" });
    expect(dev.inputs[1]).toContain("end your team");
    expect(made("idle")).toBe(false);
  });
});

describe("PreToolUse and PostToolUse hooks", () => {
  const calling = (command: string, more: WorkerInput = {}): WorkerInput => ({
    turns: [{ tools: [bash(command)] }, { say: "done" }],
    mode: "bypassPermissions",
    ...more,
  });

  it("refuse a call with exit code 2 in any mode, with stderr as the reason", async () => {
    const { ref, dev, made, file } = await working(
      { PreToolUse: ["Bash", "cat > call; echo 'not on a Friday' >&2; exit 2"] },
      calling("touch ran"),
    );
    await untilIdle(ref, dev);
    expect(made("ran")).toBe(false);
    expect(results(dev)).toEqual(["A hook refused Bash: not on a Friday"]);
    expect(JSON.parse(file("call"))).toMatchObject({
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
      tool_input: { command: "touch ran" },
    });
  });

  it("allow a call if they match other tools only", async () => {
    const { ref, dev, made } = await working({ PreToolUse: ["Write|Edit", "exit 2"] }, calling("touch ran"));
    await untilIdle(ref, dev);
    expect(made("ran")).toBe(true);
  });

  it("refuse a call with the permission decision deny", async () => {
    const { ref, dev, made } = await working(
      {
        PreToolUse: `echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"mine"}}'`,
      },
      calling("touch ran"),
    );
    await untilIdle(ref, dev);
    expect(made("ran")).toBe(false);
    expect(results(dev)[0]).toContain("A hook denies it: mine");
  });

  it("ask or allow by their permission decision, and a deny rule overrides allow", async () => {
    const says = (decision: string): string => `echo '{"permissionDecision":"${decision}"}'`;
    const asking = await working({ PreToolUse: says("ask") }, calling("touch ran"));
    await eventually("the request", () => listApprovals(asking.ref).length === 1);
    expect(asking.made("ran")).toBe(false);
    const allowed = await working({ PreToolUse: says("allow") }, calling("touch ran", { mode: "default" }));
    await untilIdle(allowed.ref, allowed.dev);
    expect(allowed.made("ran")).toBe(true);
    const denied = await working(
      { PreToolUse: says("allow") },
      calling("touch ran", { settings: { permissions: { deny: ["Bash(touch:*)"] } } }),
    );
    await untilIdle(denied.ref, denied.dev);
    expect(denied.made("ran")).toBe(false);
  });

  it("do not cause a permission request in the mode dontAsk", async () => {
    const { ref, dev, made } = await working(
      { PreToolUse: `echo '{"permissionDecision":"ask"}'` },
      calling("touch ran", { mode: "dontAsk", settings: { permissions: { allow: ["Bash"] } } }),
    );
    await untilIdle(ref, dev);
    expect([made("ran"), listApprovals(ref)]).toEqual([false, []]);
    expect(results(dev)[0]).toContain("dontAsk mode denies this call instead of asking");
  });

  it("can change the input of a call, and the model and PostToolUse hooks see the change", async () => {
    const says = (command: string): string =>
      `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"${command}"}}}'`;
    const changed = await working(
      { PreToolUse: says("touch other"), PostToolUse: "cat > call" },
      calling("touch ran", { mode: "default" }),
    );
    await untilIdle(changed.ref, changed.dev);
    expect([changed.made("ran"), changed.made("other")]).toEqual([false, true]);
    expect(results(changed.dev)[0]).toContain('it ran with {"command":"touch other"}');
    expect(JSON.parse(changed.file("call"))).toMatchObject({ tool_input: { command: "touch other" } });
    const denied = await working(
      { PreToolUse: says("touch other") },
      calling("touch ran", { settings: { permissions: { deny: ["Bash(touch other)"] } } }),
    );
    await untilIdle(denied.ref, denied.dev);
    expect([denied.made("ran"), denied.made("other")]).toEqual([false, false]);
  });

  it("end the turn with continue: false", async () => {
    const { ref, dev, made } = await working(
      { PreToolUse: `echo '{"continue":false,"stopReason":"enough"}'` },
      calling("touch ran"),
    );
    await untilIdle(ref, dev);
    expect([made("ran"), dev.messages.at(-1)?.role]).toEqual([false, "user"]);
    expect(results(dev)[0]).toContain("enough");
  });

  it("receive the call after it ran, and add their text to the result", async () => {
    const { ref, dev, file } = await working(
      { PostToolUse: "cat > call; echo 'format it' >&2; exit 2" },
      calling("touch ran; echo out"),
    );
    await untilIdle(ref, dev);
    expect(results(dev)).toEqual([expect.stringMatching(/^out\n\n\n?A hook says: format it$/)]);
    expect(JSON.parse(file("call"))).toMatchObject({
      hook_event_name: "PostToolUse",
      tool_input: { command: "touch ran; echo out" },
      tool_response: { is_error: false },
    });
  });

  it("do not leak a secret into results or the pane (S75)", async () => {
    const secret = "hunter2-hunter2";
    const { ref, dev } = await working(
      { PostToolUse: 'echo "it is $MY_SECRET" >&2; exit 2' },
      calling("true", { env: { PATH: process.env.PATH, MY_SECRET: secret } }),
    );
    await untilIdle(ref, dev);
    expect(results(dev)[0]).toContain("it is [secret]");
    expect(JSON.stringify(dev.shown)).not.toContain(secret);
  });
});

describe("SubagentStart and SubagentStop hooks", () => {
  const look: WorkerInput = {
    turns: [
      { tools: [{ name: "Agent", input: { prompt: "look", subagent_type: "Explore" } }] },
      { say: "done" },
    ],
    subagents: { Explore: [{ say: "{{input}}" }, { say: "then: {{input}}" }] },
  };

  it("add the output of SubagentStart to the subagent's prompt", async () => {
    const { ref, dev, file } = await working(
      { SubagentStart: ["Explore", "cat > start; echo 'mind the gap'"] },
      look,
    );
    await untilIdle(ref, dev);
    expect(results(dev)[0]).toBe("look\n\nmind the gap");
    expect(JSON.parse(file("start"))).toMatchObject({ agent_id: expect.any(String), agent_type: "Explore" });
  });

  it("continue the subagent with exit code 2 of SubagentStop", async () => {
    const { ref, dev, file } = await working(
      {
        SubagentStop: ["Explore", "cat > stop; [ -e one ] || { touch one; echo 'look again' >&2; exit 2; }"],
      },
      look,
    );
    await untilIdle(ref, dev);
    expect(results(dev)[0]).toBe("then: look again");
    const event = JSON.parse(file("stop")) as { agent_transcript_path: string };
    expect(existsSync(event.agent_transcript_path)).toBe(true);
  });

  it("do not run for other agent types", async () => {
    const { ref, dev } = await working(
      { SubagentStart: ["Plan", "echo no"], SubagentStop: ["Plan", "exit 2"] },
      look,
    );
    await untilIdle(ref, dev);
    expect(results(dev)[0]).toBe("look");
  });
});

describe("environment of commands and hooks", () => {
  it("contains no model API keys unless passSecrets names them", async () => {
    const env = {
      PATH: process.env.PATH,
      ANTHROPIC_API_KEY: "sk-ant-of-the-user",
      ANTHROPIC_AUTH_TOKEN: "other-secret",
    };
    const show =
      '[ -n "$ANTHROPIC_API_KEY" ] && echo key; [ -n "$ANTHROPIC_AUTH_TOKEN" ] && echo token; echo end';
    const seen = async (passSecrets: readonly string[]) => {
      const { ref, dev, file } = await working(
        { PreToolUse: `{ ${show}; } > hook` },
        {
          mode: "bypassPermissions",
          env,
          settings: { teams: { passSecrets } },
          turns: [{ tools: [bash(show)] }, { say: "ok" }],
        },
      );
      await untilIdle(ref, dev);
      return [results(dev)[0]?.trim(), file("hook").trim()];
    };
    expect(await seen([])).toEqual(["end", "end"]);
    expect(await seen(["ANTHROPIC_API_KEY"])).toEqual(["key\nend", "key\nend"]);
  });
});

describe("TaskCreated and TaskCompleted hooks", () => {
  const create = { name: "TaskCreate", input: { subject: "No tests", description: "d" } };

  it("refuse a new task, whose number is never used", async () => {
    const { ref, dev, file } = await working(
      { TaskCreated: `cat > task; grep -q '"No tests"' task && { echo 'write tests' >&2; exit 2; }; exit 0` },
      {
        turns: [{ tools: [create] }, { tools: [{ ...create, input: { subject: "Tests" } }] }, { say: "ok" }],
      },
    );
    await untilIdle(ref, dev);
    expect(results(dev)[0]).toContain("write tests");
    expect(listTasks(ref).map(({ id, subject }) => [id, subject])).toEqual([["2", "Tests"]]);
    expect(JSON.parse(file("task"))).toMatchObject({
      hook_event_name: "TaskCreated",
      task_id: "2",
      task_subject: "Tests",
      task_description: "",
      teammate_name: "dev",
      team_name: "crew",
    });
  });

  it("refuse to complete a task", async () => {
    const done = { name: "TaskUpdate", input: { taskId: "1", status: "completed" } };
    const { ref, dev } = await working(
      { TaskCompleted: "echo 'the build is red' >&2; exit 2" },
      { turns: [{ tools: [create, done] }, { say: "ok" }] },
    );
    await untilIdle(ref, dev);
    expect(listTasks(ref)[0]?.status).toBe("pending");
    expect(results(dev)[1]).toContain("the build is red");
  });
});

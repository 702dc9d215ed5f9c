import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HookEvent } from "../../../src/agent/hooks/settings.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { deliver } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { listTasks } from "../../../src/team/tasks/tasks.ts";
import { eventually } from "../../support/eventually.ts";
import { testTeam } from "../../support/team.ts";
import { workerOfTest } from "../../support/worker-of-test.ts";

/** What the command of a hook answers. Words are said on both streams, so that it is seen which of them counts. */
const ANSWERS = {
  "exit 0": { command: "echo printed; echo objection >&2" },
  "exit 2": { command: "echo printed; echo objection >&2; exit 2" },
  "exit 3": { command: "echo printed; echo objection >&2; exit 3" },
  timeout: { command: "echo printed; echo objection >&2; sleep 60", timeout: 0.1 },
  block: { command: `echo '{"decision":"block","reason":"objection"}'` },
  stop: { command: `echo '{"continue":false,"stopReason":"objection"}'` },
} as const;
type Answer = keyof typeof ANSWERS;

/** What came of it, as the table of protocol.md section 7 has it. */
type Effect =
  /** Goes on as without a hook. */
  | "goes on"
  /** Goes on, and the subagent reads what the hook printed. */
  | "reads"
  /** Goes on, and the person sees what went wrong. */
  | "shown"
  /** What was to come does not, and the model reads why. */
  | "refused"
  /** The model reads the words, with the result or as its next turn. */
  | "told"
  /** The turn is over there. */
  | "ends";

const TABLE: Readonly<Record<HookEvent, Readonly<Record<Answer, Effect>>>> = {
  PreToolUse: row("goes on", "refused", "shown", "shown", "refused", "ends"),
  PostToolUse: row("goes on", "told", "shown", "shown", "told", "ends"),
  TaskCreated: row("goes on", "refused", "shown", "shown", "refused", "refused"),
  TaskCompleted: row("goes on", "refused", "shown", "shown", "refused", "refused"),
  SubagentStart: row("reads", "shown", "shown", "shown", "shown", "shown"),
  SubagentStop: row("goes on", "told", "shown", "shown", "told", "goes on"),
  Stop: row("goes on", "told", "shown", "shown", "told", "goes on"),
  TeammateIdle: row("goes on", "told", "shown", "shown", "told", "goes on"),
};

function row(...effects: readonly [Effect, Effect, Effect, Effect, Effect, Effect]): Record<Answer, Effect> {
  const answers = Object.keys(ANSWERS) as Answer[];
  return Object.fromEntries(answers.map((answer, i) => [answer, effects[i]])) as Record<Answer, Effect>;
}

const touch = { name: "Bash", input: { command: "touch made" } };
const subject = { subject: "one", description: "" };
const done = { taskId: "1", status: "completed" };
const agent = { prompt: "look", description: "x", subagent_type: "Explore" };
const AFTER = { tools: [{ name: "Bash", input: { command: "touch after" } }] };

/** A turn in which the event comes once. */
const TURNS: Readonly<Record<HookEvent, readonly PlaybookTurn[]>> = {
  PreToolUse: [{ tools: [touch] }, AFTER],
  PostToolUse: [{ tools: [touch] }, AFTER],
  TaskCreated: [{ tools: [{ name: "TaskCreate", input: subject }] }],
  TaskCompleted: [
    {
      tools: ["TaskCreate", "TaskUpdate"].map((name) => ({
        name,
        input: name === "TaskCreate" ? subject : done,
      })),
    },
  ],
  SubagentStart: [{ tools: [{ name: "Agent", input: agent }] }],
  SubagentStop: [{ tools: [{ name: "Agent", input: agent }] }],
  Stop: [],
  TeammateIdle: [],
};

/** Whether what the event stands before, or behind, has come. */
const HAPPENED: Readonly<Record<HookEvent, (cwd: string, tasks: readonly string[]) => boolean>> = {
  PreToolUse: (cwd) => existsSync(join(cwd, "made")),
  PostToolUse: (cwd) => existsSync(join(cwd, "made")),
  TaskCreated: (_, tasks) => tasks.length === 1,
  TaskCompleted: (_, tasks) => tasks[0] === "completed",
  SubagentStart: () => true,
  SubagentStop: () => true,
  Stop: () => true,
  TeammateIdle: () => true,
};

/** Those after which the model has the hook's words. */
const HEARD: ReadonlySet<Effect> = new Set<Effect>(["refused", "told", "ends"]);
const AT_REST: ReadonlySet<HookEvent> = new Set<HookEvent>(["Stop", "TeammateIdle"]);

/** What the person is shown: of four kinds of results all but success. */
const NOTICES: Readonly<Record<Answer, (event: HookEvent) => RegExp>> = {
  "exit 0": () => /^$/,
  "exit 2": stopped,
  "exit 3": (event) => new RegExp(`^hook ${event}: non-blocking error .*: exit code 3: objection$`),
  timeout: (event) => new RegExp(`^hook ${event}: error while running .*timeout`),
  block: stopped,
  stop: stopped,
};

/** Nothing comes after the start of a subagent that it could stop. */
function stopped(event: HookEvent): RegExp {
  return new RegExp(`^hook ${event}: ${event === "SubagentStart" ? "" : "stopped it: "}objection$`);
}

describe.each(Object.keys(TABLE) as HookEvent[])("a %s hook", (event) => {
  it.each(Object.keys(ANSWERS) as Answer[])("that answers with %s", async (answer) => {
    const ref = await testTeam(["dev"]);
    // Once: one that sends on without end is another test's.
    const { command, ...more } = ANSWERS[answer];
    const hook = { type: "command", command: `[ -e asked ] && exit 0; touch asked; ${command}`, ...more };
    const matcher = event.endsWith("ToolUse") ? "Bash" : "";
    const dev = await workerOfTest(ref, {
      mode: "bypassPermissions",
      turns: [...TURNS[event], { say: "rests", repeat: true }],
      subagents: { Explore: [{ say: "{{input}}", repeat: true }] },
      settings: { hooks: { [event]: [{ matcher, hooks: [hook] }] } },
    });
    await deliver(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
    await eventually("its rest", () => dev.inputs.length > 0 && readStatus(ref, "dev")?.state === "idle");

    const results = dev.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
    );
    const heard = [...results, ...dev.inputs.slice(1)].join("\n");
    const tasks = listTasks(ref).map(({ status }) => status);
    const effect = TABLE[event][answer];
    expect({
      happened: HAPPENED[event](dev.cwd, tasks),
      objection: heard.includes("objection"),
      printed: heard.includes("printed"),
      turns: dev.inputs.length,
      after: existsSync(join(dev.cwd, "after")),
    }).toEqual({
      happened: effect !== "refused" && !(effect === "ends" && event === "PreToolUse"),
      objection: HEARD.has(effect),
      printed: effect === "reads",
      turns: effect === "told" && AT_REST.has(event) ? 2 : 1,
      after: event.endsWith("ToolUse") && effect !== "ends",
    });
    const notices = dev.shown.filter((line) => line.startsWith(`hook ${event}: `)).join("\n");
    expect(notices).toMatch(NOTICES[answer](event));
  });
});

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HookEvent } from "../../../src/agent/hooks/settings.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { listTasks } from "../../../src/team/tasks/tasks.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

/** Answers of a hook command. Both streams have text, so that the test sees which one is used. */
const ANSWERS = {
  "exit 0": { command: "echo printed; echo objection >&2" },
  "exit 2": { command: "echo printed; echo objection >&2; exit 2" },
  "exit 3": { command: "echo printed; echo objection >&2; exit 3" },
  // Its effect is the same if the shell has printed nothing by then.
  timeout: { command: "echo printed; echo objection >&2; sleep 600", timeout: 1 },
  block: { command: `echo '{"decision":"block","reason":"objection"}'` },
  stop: { command: `echo '{"continue":false,"stopReason":"objection"}'` },
} as const;
type Answer = keyof typeof ANSWERS;

/** The effect of an answer, as in the table of protocol.md section 7. */
type Effect =
  /** Continues as without a hook. */
  | "continues"
  /** Continues, and the subagent reads the output of the hook. */
  | "reads"
  /** Continues, and the user sees the problem. */
  | "shown"
  /** The event is prevented, and the model reads why. */
  | "refused"
  /** The model reads the text, with the result or as its next turn. */
  | "added"
  /** The turn ends. */
  | "ends";

const TABLE: Readonly<Record<HookEvent, Readonly<Record<Answer, Effect>>>> = {
  // Its output is in the system prompt, which a playbook does not show.
  SessionStart: row("continues", "shown", "shown", "shown", "shown", "shown"),
  PreToolUse: row("continues", "refused", "shown", "shown", "refused", "ends"),
  PostToolUse: row("continues", "added", "shown", "shown", "added", "ends"),
  TaskCreated: row("continues", "refused", "shown", "shown", "refused", "refused"),
  TaskCompleted: row("continues", "refused", "shown", "shown", "refused", "refused"),
  SubagentStart: row("reads", "shown", "shown", "shown", "shown", "shown"),
  SubagentStop: row("continues", "added", "shown", "shown", "added", "continues"),
  Stop: row("continues", "added", "shown", "shown", "added", "continues"),
  TeammateIdle: row("continues", "added", "shown", "shown", "added", "continues"),
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

/** Turns in which the event happens once. */
const TURNS: Readonly<Record<HookEvent, readonly PlaybookTurn[]>> = {
  SessionStart: [],
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

/** True if the action that the event announces or reports has happened. */
const HAPPENED: Readonly<Record<HookEvent, (cwd: string, tasks: readonly string[]) => boolean>> = {
  SessionStart: () => true,
  PreToolUse: (cwd) => existsSync(join(cwd, "made")),
  PostToolUse: (cwd) => existsSync(join(cwd, "made")),
  TaskCreated: (_, tasks) => tasks.length === 1,
  TaskCompleted: (_, tasks) => tasks[0] === "completed",
  SubagentStart: () => true,
  SubagentStop: () => true,
  Stop: () => true,
  TeammateIdle: () => true,
};

/** Effects after which the model has the text of the hook. */
const READ_BY_MODEL: ReadonlySet<Effect> = new Set<Effect>(["refused", "added", "ends"]);
const IDLE_EVENTS: ReadonlySet<HookEvent> = new Set<HookEvent>(["Stop", "TeammateIdle"]);

/** Notices for the user: one for each result except success. */
const NOTICES: Readonly<Record<Answer, (event: HookEvent) => RegExp>> = {
  "exit 0": () => /^$/,
  "exit 2": stopped,
  "exit 3": (event) => new RegExp(`^hook ${event}: non-blocking error .*: exit code 3: objection$`),
  timeout: (event) => new RegExp(`^hook ${event}: error while running .*timeout`),
  block: stopped,
  stop: stopped,
};

/** The notice of a refusal; a hook cannot prevent a start. */
function stopped(event: HookEvent): RegExp {
  return new RegExp(`^hook ${event}: ${/^S.*Start$/.test(event) ? "" : "stopped the action: "}objection$`);
}

describe.each(Object.keys(TABLE) as HookEvent[])("%s hook", (event) => {
  it.each(Object.keys(ANSWERS) as Answer[])(
    "has the effect of protocol.md section 7 when it answers with %s",
    async (answer) => {
      const ref = await testTeam(["dev"]);
      // The hook answers once; another test covers endless continuations.
      const { command, ...more } = ANSWERS[answer];
      const hook = { type: "command", command: `[ -e asked ] && exit 0; touch asked; ${command}`, ...more };
      const matcher = event.endsWith("ToolUse") ? "Bash" : "";
      const dev = await workerOfTest(ref, {
        mode: "bypassPermissions",
        turns: [...TURNS[event], { say: "rests", repeat: true }],
        subagents: { Explore: [{ say: "{{input}}", repeat: true }] },
        settings: { hooks: { [event]: [{ matcher, hooks: [hook] }] } },
      });
      await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
      await eventually(
        "the idle state",
        () => dev.inputs.length > 0 && readStatus(ref, "dev")?.state === "idle",
      );

      const results = dev.messages.flatMap(({ content }) =>
        content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
      );
      const read = [...results, ...dev.inputs.slice(1)].join("\n");
      const tasks = listTasks(ref).map(({ status }) => status);
      const effect = TABLE[event][answer];
      expect({
        happened: HAPPENED[event](dev.cwd, tasks),
        objection: read.includes("objection"),
        printed: read.includes("printed"),
        turns: dev.inputs.length,
        after: existsSync(join(dev.cwd, "after")),
      }).toEqual({
        happened: effect !== "refused" && !(effect === "ends" && event === "PreToolUse"),
        objection: READ_BY_MODEL.has(effect),
        printed: effect === "reads",
        turns: effect === "added" && IDLE_EVENTS.has(event) ? 2 : 1,
        after: event.endsWith("ToolUse") && effect !== "ends",
      });
      const notices = dev.shown.filter((line) => line.startsWith(`hook ${event}: `)).join("\n");
      expect(notices).toMatch(NOTICES[answer](event));
    },
  );
});

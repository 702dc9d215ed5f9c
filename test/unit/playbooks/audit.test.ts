import { describe, expect, test } from "vitest";
import type {
  ConversationMessage,
  InputOrigin,
  Model,
  ToolUseBlock,
} from "../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import source from "../../../src/playbooks/audit.json" with { type: "json" };
import { type Playbook, parsePlaybook } from "../../../src/schema/playbook.ts";

const AUDIT: Playbook = parsePlaybook(JSON.stringify(source), "audit.json");
const REPORT = "/repo/AUDIT.md";

interface Message {
  readonly from: string;
  readonly text: string;
  readonly requestId?: string;
  /** Whether the message is a shutdown request. */
  readonly ends?: boolean;
}

/** A file name that contains every trigger word of the playbook. */
const EVIL = "is rejected: Task #7 is assigned to you audit: stopped: report: is new";
/** The output of the scripts that the playbook runs. */
const PRINTS: Readonly<Record<string, string>> = {
  inventory: `    Tracked files: 3\n\n    1  ${EVIL}`,
  largest: `    Largest file: ${EVIL} (9 bytes)`,
  "largest --name": `"${EVIL}"`,
  history: `    Commits: 2\n    Most touched file: ${EVIL}`,
  todo: `    Lines with TODO or FIXME: 1\n    1  ${EVIL}`,
  tests: `    Test files: 1 of 3\n    1  ${EVIL}`,
  touched: "The largest file was touched by 2 commits.",
  about: "    Repository: x",
  guard: "report: is new",
  check: "Counted again: all 4 figures of the report hold.",
  figures: "The audit is done.",
};

/** One agent of the playbook, with simulated tools and the team's tasks. */
class Actor {
  readonly calls: ToolUseBlock[] = [];
  readonly failed: string[] = [];
  readonly said: string[] = [];
  private readonly messages: ConversationMessage[] = [];
  private readonly model: Model;
  private readonly blocked: Set<string>;
  private readonly prints: Readonly<Record<string, string>>;

  constructor(
    name: string,
    blocked: readonly string[] = [],
    prints: Readonly<Record<string, string>> = PRINTS,
  ) {
    this.blocked = new Set(blocked);
    this.prints = prints;
    const env = { TEAMS_PLAYBOOKS: "/p", TEAMS_REPORT: REPORT, TEAMS_RUN: "run-1" };
    this.model = scriptedModel({ playbook: AUDIT, agent: name, cwd: "/repo", env, speed: 1000 });
  }

  unblock(id: string): void {
    this.blocked.delete(id);
  }

  /** Plays one turn on these messages until no turn of the playbook matches; returns the tool calls. */
  async turn(...inputs: readonly Message[]): Promise<ToolUseBlock[]> {
    const before = this.calls.length;
    const newest = inputs.at(-1);
    const asked = inputs.findLast((input) => input.requestId !== undefined);
    const stop = inputs.findLast(({ ends }) => ends);
    const origin: InputOrigin = {
      text: newest?.text ?? "",
      from: newest?.from ?? "user",
      ...(asked?.requestId === undefined ? {} : { requestId: asked.requestId }),
      ...(stop?.requestId === undefined ? {} : { shutdown: { requestId: stop.requestId, text: stop.text } }),
    };
    const text = inputs
      .map((input) => `<teammate_message teammate_id="${input.from}">\n${input.text}\n</teammate_message>`)
      .join("\n\n");
    this.messages.push({ role: "user", content: [{ type: "text", text }], origin });
    while (await this.step());
    return this.calls.slice(before);
  }

  /** Returns the inputs of all calls of this tool. */
  used(tool: string): Record<string, unknown>[] {
    return this.calls.filter((use) => use.name === tool).map((use) => use.input as Record<string, unknown>);
  }

  /** Returns the sent messages, as type, recipient and text. */
  sent(): string[] {
    return this.used("SendMessage").map(
      (input) =>
        `${input.type === "message" ? "" : `${input.type} `}→ ${input.recipient}: ${input.content ?? ""}`,
    );
  }

  completed(): unknown[] {
    return this.used("TaskUpdate")
      .filter((input) => input.status === "completed")
      .map((input) => input.taskId);
  }

  private async step(): Promise<boolean> {
    for await (const event of this.model.stream(
      { system: "", messages: this.messages, tools: [], planFile: "/plans/x.md" },
      new AbortController().signal,
    )) {
      if (event.type !== "message") continue;
      this.messages.push(event.message);
      const uses = event.message.content.filter((block) => block.type === "tool_use");
      for (const block of event.message.content) if (block.type === "text") this.said.push(block.text);
      if (uses.length === 0) return false;
      this.calls.push(...uses);
      this.messages.push({ role: "user", content: uses.map((use) => this.resultOf(use)) });
      return !uses.some(endsTurn);
    }
    return false;
  }

  private resultOf(use: ToolUseBlock) {
    const data = this.execute(use.name, use.input as Record<string, unknown>);
    const isError = data.success === false;
    if (isError) this.failed.push(use.name);
    const content =
      typeof data.stdout === "string" ? data.stdout : String(data.text ?? JSON.stringify(data, undefined, 2));
    return { type: "tool_result" as const, toolUseId: use.id, content, isError, data };
  }

  private execute(tool: string, input: Record<string, unknown>): Record<string, unknown> {
    const id = String(input.taskId);
    switch (tool) {
      case "TaskCreate":
        return { task: { id: String(this.used("TaskCreate").indexOf(input) + 1), subject: input.subject } };
      case "TaskUpdate":
        return this.blocked.has(id) && input.status === "in_progress"
          ? { success: false, code: "TASK_BLOCKED" }
          : { success: true, task: { id, subject: "", status: input.status ?? "pending" } };
      case "TaskGet": {
        const status = this.blocked.has(id) ? "pending" : "in_progress";
        return {
          task: { id, subject: "", status, metadata: { section: `    ${EVIL}`, touched: "touched" } },
        };
      }
      case "TaskList":
        return { tasks: ["1", "2", "3", "4", "5", "6", "7", "8"].map((each) => this.listed(each)) };
      case "Agent":
        return { status: "teammate_spawned" };
      case "TeamDelete":
        return this.blocked.has("team")
          ? { success: false, code: "ACTIVE_MEMBERS" }
          : { success: true, message: "The team run-1 is deleted." };
      case "Write":
        return { text: `Created ${input.file_path} (1 line).` };
      case "Bash":
        return { stdout: this.print(String(input.command)), stderr: "", exitCode: 0 };
      default:
        return { success: true };
    }
  }

  /** Returns a row of the task list, with the status and the blockers of the task. */
  private listed(id: string): Record<string, unknown> {
    const last = this.used("TaskUpdate").findLast(
      (input) => input.taskId === id && input.status !== undefined,
    );
    const status = this.blocked.has(id) ? "pending" : (last?.status ?? "pending");
    return { id, subject: EVIL, status, owner: null, blockedBy: this.blocked.has(id) ? ["1"] : [] };
  }

  private print(command: string): string {
    const [, script = "", argument = ""] = /audit\/(\w+)\.sh ?(--name)?/.exec(command) ?? [];
    return this.prints[`${script} ${argument}`.trim()] ?? "";
  }
}

function endsTurn({ name, input }: ToolUseBlock): boolean {
  return name === "ExitPlanMode" || (input as { type?: string }).type === "shutdown_response";
}

const PROMPT: Message = { from: "team-lead", text: "You take part in an audit." };
const QUESTION: Message = { from: "scout", text: 'How many commits touched the largest file: "a\\nb"' };
const ANSWER: Message = { from: "historian", text: "The largest file was touched by 2 commits." };
const VERDICT: Message = {
  from: "team-lead",
  text: "Your plan (plan_approval-1@writer@t) is approved: Good. You are out of plan mode: carry it out.",
  requestId: "plan_approval-1@writer@t",
};
const idle = (from: string): Message => ({
  from,
  text: `${from} is idle.`,
});
const assigned = (id: string): Message => ({
  from: "team-lead",
  text: `Task #${id} is assigned to you: x`,
});
const ended = (name: string): Message => ({
  from: "system",
  text: `${name} has shut down.`,
});
const REQUEST: Message = {
  from: "writer",
  text: "Plan approval request plan_approval-1@writer@t from writer (/plans/x.md):\n# Plan",
  requestId: "plan_approval-1@writer@t",
};

describe("the historian", () => {
  test("completes its tasks and answers a later question", async () => {
    const historian = new Actor("historian");
    await historian.turn(PROMPT);
    expect(historian.completed()).toEqual(["3", "4"]);
    await historian.turn(QUESTION);
    expect(historian.sent()).toEqual([
      "→ writer: My figures are in the tasks #3 and #4.",
      "→ scout: The largest file was touched by 2 commits.",
    ]);
    expect(historian.used("Bash").at(-1)?.command).toContain(`touched.sh '${QUESTION.text}'`);
  });

  test("completes its tasks and answers a question that arrives with its prompt", async () => {
    const historian = new Actor("historian");
    await historian.turn(PROMPT, QUESTION);
    expect(historian.completed()).toEqual(["3", "4"]);
    expect(historian.sent()).toContain("→ scout: The largest file was touched by 2 commits.");
  });
});

describe("the scout", () => {
  test.each([
    ["arrive one by one", [[PROMPT], [assigned("8")], [ANSWER]]],
    ["arrive with the assignment in the first turn", [[PROMPT, assigned("8")], [ANSWER]]],
    ["arrive with the assignment and the answer together", [[PROMPT], [assigned("8"), ANSWER]]],
  ] as [string, Message[][]][])("counts, asks and checks if messages %s", async (_, turns) => {
    const scout = new Actor("scout", ["8"]);
    for (const inputs of turns) await scout.turn(...inputs);
    expect(scout.completed()).toEqual(["1", "5", "2"]);
    expect(scout.sent()[0]).toBe(`→ historian: How many commits touched the largest file: "${EVIL}"`);
    const second = scout
      .used("TaskUpdate")
      .find((input) => input.taskId === "2" && input.status === "completed");
    expect(second?.metadata).toEqual({ section: PRINTS.largest, touched: ANSWER.text });
    scout.unblock("8");
    await scout.turn({ from: "writer", text: `The report is in ${REPORT}` }, assigned("8"));
    expect(scout.completed().at(-1)).toBe("8");
    expect(scout.sent().at(-1)).toMatch(/^→ team-lead: The report is checked\. Counted again: all/);
    await scout.turn(assigned("8"));
    expect(scout.completed().filter((id) => id === "8")).toHaveLength(1);
  });
});

describe("the writer", () => {
  test("plans, waits for the approval and the figures, and writes once", async () => {
    const writer = new Actor("writer", ["7"]);
    await writer.turn(PROMPT, assigned("7"));
    expect(writer.calls.at(-1)?.name).toBe("ExitPlanMode");
    expect(writer.used("Write")).toHaveLength(1);
    await writer.turn(VERDICT);
    expect(writer.completed()).toEqual(["6"]);
    await writer.turn({ from: "historian", text: "My figures are in the tasks #3 and #4." }, assigned("7"));
    expect(writer.used("Write")).toHaveLength(1);
    writer.unblock("7");
    await writer.turn(assigned("7"), { from: "scout", text: "My figures are in the tasks #1, #2 and #5." });
    expect(writer.used("Write").at(-1)?.file_path).toBe(REPORT);
    expect(String(writer.used("Write").at(-1)?.content).split("\n")[0]).toBe(
      "<!-- written by teams: audit -->",
    );
    expect(writer.completed()).toEqual(["6", "7"]);
    await writer.turn(assigned("7"));
    expect(writer.used("Write")).toHaveLength(2);
  });

  test("writes immediately if the figures arrive before the approval", async () => {
    const writer = new Actor("writer");
    await writer.turn(PROMPT);
    await writer.turn(VERDICT);
    expect(writer.completed()).toEqual(["6", "7"]);
  });

  test("plans again after every rejection", async () => {
    const writer = new Actor("writer");
    await writer.turn(PROMPT);
    const rejected = {
      from: "team-lead",
      text: "Your plan (plan_approval-1@writer@t) is rejected: shorter. Change the plan and ask again.",
    };
    await writer.turn(rejected);
    await writer.turn(rejected);
    expect(writer.used("ExitPlanMode")).toHaveLength(3);
    expect(writer.completed()).toEqual([]);
    await writer.turn(VERDICT);
    expect(writer.completed()).toEqual(["6", "7"]);
  });

  test("keeps a file that no audit wrote, and tells the lead", async () => {
    const writer = new Actor("writer", [], {
      ...PRINTS,
      guard: "audit: stopped: a file that no audit wrote stands there",
    });
    await writer.turn(PROMPT);
    await writer.turn(VERDICT);
    expect(writer.used("Write").map((input) => input.file_path)).toEqual(["/plans/x.md"]);
    expect(writer.sent()).toEqual([expect.stringMatching(/^→ team-lead: audit: stopped: /)]);
  });
});

describe("the lead", () => {
  async function started(...blocked: string[]): Promise<Actor> {
    const lead = new Actor("team-lead", blocked);
    await lead.turn({ from: "user", text: "Play the playbook." });
    return lead;
  }

  test("creates a team of three with eight dependent tasks", async () => {
    const lead = await started();
    expect(lead.calls.map((use) => use.name).filter((name, i, all) => name !== all[i - 1])).toEqual([
      "TeamCreate",
      "TaskCreate",
      "TaskUpdate",
      "Agent",
      "TaskUpdate",
    ]);
    expect(lead.used("TaskCreate")).toHaveLength(8);
    expect(lead.used("Agent").map((input) => input.name)).toEqual(["scout", "historian", "writer"]);
    expect(lead.used("TaskUpdate")).toContainEqual({ taskId: "8", addBlockedBy: ["7"] });
  });

  test("approves the plan, whatever arrives with the request", async () => {
    const lead = await started();
    await lead.turn(idle("historian"), REQUEST, idle("scout"));
    expect(lead.used("SendMessage")).toEqual([
      expect.objectContaining({
        type: "plan_approval_response",
        request_id: REQUEST.requestId,
        approve: true,
      }),
    ]);
  });

  test.each([
    ["one by one", [["scout"], ["historian"], ["writer"]]],
    ["two together", [["writer", "scout"], ["historian"]]],
    ["all together", [["historian", "writer", "scout"]]],
  ])("deletes the team once, when all have shut down, with notices %s", async (_, notices) => {
    const lead = await started("team");
    await lead.turn(
      idle("writer"),
      { from: "scout", text: "The report is checked. Counted again: all 4 hold." },
      idle("scout"),
    );
    expect(lead.sent()).toHaveLength(3);
    for (const [i, names] of notices.entries()) {
      if (i === notices.length - 1) lead.unblock("team");
      await lead.turn(idle("scout"), ...names.map(ended));
    }
    expect(lead.used("TeamDelete")).toHaveLength(1);
    expect(lead.failed).toEqual([]);
    expect(lead.said.at(-1)).toBe("The audit is done.");
  });

  test.each([
    "audit: stopped: a command of scout failed",
    "historian crashed (SIGKILL). Unassigned tasks: #4 x.\nIts last lines:\nx",
    "writer ended (exit code 1).",
  ])("shuts the team down when notified: %s", async (text) => {
    const lead = await started("team");
    await lead.turn({ from: "system", text }, REQUEST);
    expect(lead.sent().map((line) => line.split(":")[0])).toEqual([
      "shutdown_request → scout",
      "shutdown_request → historian",
      "shutdown_request → writer",
    ]);
    // The run deletes a team with a crashed teammate.
    await lead.turn(ended("scout"), ended("writer"));
    expect(lead.used("TeamDelete")).toHaveLength(0);
    lead.unblock("team");
    await lead.turn(ended("historian"));
    expect(lead.used("TeamDelete")).toHaveLength(1);
    expect(lead.failed).toEqual([]);
  });
});

test.each(["team-lead", "scout", "historian", "writer"])(
  "the %s approves a shutdown at any time",
  async (name) => {
    const request: Message = {
      from: "team-lead",
      text: "Shutdown request shutdown-1@x.",
      requestId: "shutdown-1@x",
      ends: true,
    };
    for (const before of [[], [PROMPT]]) {
      const actor = new Actor(name, ["7", "8"]);
      for (const input of before) await actor.turn(input);
      expect((await actor.turn(request)).map((use) => use.input)).toEqual([
        { type: "shutdown_response", request_id: "shutdown-1@x", approve: true },
      ]);
    }
  },
);

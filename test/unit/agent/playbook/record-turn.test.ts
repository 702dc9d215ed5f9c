import { describe, expect, it } from "vitest";
import type { ConversationMessage, ModelRequest } from "../../../../src/agent/model/model.ts";
import { chooseTurn } from "../../../../src/agent/playbook/choose-turn.ts";
import { playbookLookup } from "../../../../src/agent/playbook/placeholder-values.ts";
import { fillInput, fillText } from "../../../../src/agent/playbook/placeholders.ts";
import {
  escapePlaceholders,
  recordedCondition,
  recordedTools,
} from "../../../../src/agent/playbook/record-turn.ts";
import { formatEnvelopes } from "../../../../src/protocol/envelope.ts";
import type { PlaybookTurn } from "../../../../src/schema/playbook.ts";

const RUN = { cwd: "/home/a.b/work", team: "run-abcd", secrets: ["open.sesame"] };
const ANSWER: ConversationMessage = { role: "assistant", content: [{ type: "text", text: "Yes." }] };

function message(text: string, requestId?: string): ConversationMessage {
  const origin = { text, from: "ada", ...(requestId === undefined ? {} : { requestId }) };
  return { role: "user", content: [{ type: "text", text }], origin };
}

/** Returns one input that consists of several messages. */
function jointInput(...texts: readonly string[]): ConversationMessage {
  const text = formatEnvelopes(texts.map((body) => ({ from: "ada", body })));
  return {
    role: "user",
    content: [{ type: "text", text }],
    origin: { text: texts.at(-1) ?? "", from: "ada" },
  };
}

function request(...messages: ConversationMessage[]): ModelRequest {
  return { system: "", tools: [], messages, planFile: "/home/ada/plans/run-abcd-ada.md" };
}

describe("recordedCondition", () => {
  it.each([
    ["has no condition for the first input of a conversation", [message("Plan first.")], undefined],
    [
      "matches a message by its first line",
      [ANSWER, message("It is (all) done.\nBye.")],
      ["^It\\s+is\\s+\\(all\\)\\s+done\\."],
    ],
    ["hides a secret", [ANSWER, message("the open.sesame word")], ["^the\\s+\\S+\\s+word"]],
    [
      "matches each message of a joint input except idle notifications",
      [ANSWER, jointInput("One.", "ada is idle.\nIt says: x", "Two.")],
      ["^One\\.", "^Two\\."],
    ],
    [
      "matches each message of a joint input without the note on team changes",
      [
        ANSWER,
        {
          role: "user" as const,
          content: [
            {
              type: "text" as const,
              text: `[The team has changed: bob joined. Other members now: bob.]\n\n${formatEnvelopes([{ from: "bob", body: "One." }])}`,
            },
          ],
          origin: { text: "One.", from: "bob" },
        },
      ],
      ["^One\\."],
    ],
    [
      "matches an idle notification if the input contains nothing else",
      [ANSWER, jointInput("ada is idle.")],
      ["^ada\\s+is\\s+idle\\."],
    ],
  ])("%s", (_, messages, heard) => {
    const on = recordedCondition(request(...messages), RUN);
    expect(on).toEqual(heard === undefined ? undefined : { heard });
  });

  it("waits for the result of a tool after a call", () => {
    const call: ConversationMessage = {
      role: "assistant",
      content: [{ type: "tool_use", id: "1", name: "Bash", input: { command: "ls" } }],
    };
    const result = { type: "tool_result", toolUseId: "1", content: "a b", isError: false } as const;
    const messages: ConversationMessage[] = [message("Go."), call, { role: "user", content: [result] }];
    const on = recordedCondition(request(...messages), RUN);
    expect(on).toEqual({ tool: "Bash" });
    const turn = { on: on ?? {}, say: "Done." };
    const playbook = { version: 1 as const, agents: { ada: [turn] } };
    expect(chooseTurn(playbook, "ada", messages)).toMatchObject({ turn });
    expect(chooseTurn(playbook, "ada", [...messages, ANSWER, message("Go on.")])).toBeUndefined();
    expect(
      chooseTurn({ ...playbook, agents: { ada: [{ on: { tool: "Read" } }] } }, "ada", messages),
    ).toBeUndefined();
  });

  it("matches any value of the parts that differ between runs, and no other change", () => {
    const text = `Task #12 of run-abcd is ${RUN.cwd}/x (done?) for plan-1795@ada`;
    const matches = recordedCondition(request(ANSWER, message(text)), RUN)?.heard?.[0] ?? "";
    const pattern = new RegExp(matches, "u");
    expect(pattern.test(text)).toBe(true);
    expect(pattern.test("Task #3 of run-00ff is /elsewhere/x (done?) for plan-2@ada")).toBe(true);
    expect(pattern.test("Task #3 of run-00ff is /elsewhere/x (begun) for plan-2@ada")).toBe(false);
  });
});

describe("a replayed recording", () => {
  const one = { on: { heard: ["^One"] }, tools: [{ name: "Bash", input: { command: "one" } }] };
  const two = { on: { heard: ["^Two"] }, tools: [{ name: "Bash", input: { command: "two" } }] };
  const answer = { on: { heard: ["^(One|Three)"] }, say: "Good." };
  const both = { on: { heard: ["^Two", "^One"] }, tools: [{ name: "Bash", input: { command: "both" } }] };

  /** Returns the indexes of the turns that an agent plays for each of these inputs, until no turn matches. */
  function playedOn(turns: readonly PlaybookTurn[], inputs: readonly ConversationMessage[]): number[] {
    const playbook = { version: 1 as const, agents: { ada: [{ say: "begun" }, ...turns] } };
    const conversation: ConversationMessage[] = [];
    const positions: number[] = [];
    for (const input of [message("The prompt."), ...inputs]) {
      conversation.push(input);
      for (let on = true; on; ) {
        const choice = chooseTurn(playbook, "ada", conversation);
        if (choice === undefined) break;
        positions.push(choice.index);
        const use = { type: "tool_use", id: `u${positions.length}`, name: "Bash", input: {} } as const;
        on = choice.turn.tools !== undefined;
        conversation.push({ role: "assistant", content: on ? [use] : [], turn: `ada/${choice.index}` });
        const result = { type: "tool_result", toolUseId: use.id, content: "", isError: false } as const;
        if (on) conversation.push({ role: "user", content: [result] });
      }
    }
    return positions;
  }

  it.each([
    ["messages one by one, as recorded", [one, two], [message("One."), message("Two.")], [0, 1, 2]],
    ["messages in one input", [one, two], [jointInput("One.", "Two.")], [0, 1, 2]],
    [
      "messages in one input, one of them answered in words",
      [answer, two],
      [jointInput("One.", "Two.")],
      [0, 2, 1],
    ],
    ["messages in another order", [one, two], [message("Two."), message("One.")], [0, 2, 1]],
    [
      "messages one by one that were recorded in one input",
      [both],
      [message("One."), message("Two.")],
      [0, 1],
    ],
    ["a message that was recorded twice and comes once", [one, one], [message("One.")], [0, 1]],
    ["no message", [one], [], [0]],
  ])("answers each message once: %s", (_, turns, inputs, positions) => {
    expect(playedOn(turns, inputs)).toEqual(positions);
  });

  it("maps request ids by their member, even among several requests and later messages", () => {
    const asked = request(
      jointInput("Plan plan_approval-1@ada@run-abcd", "Plan plan_approval-2@bob@run-abcd"),
      message("Bye.", "shutdown-3@eve"),
    );
    const inputs = ["plan_approval-1@ada@run-abcd", "plan_approval-2@bob@run-abcd"];
    const use = { type: "tool_use", id: "1", name: "SendMessage", input: { list: inputs } } as const;
    const [tool] = recordedTools(asked, [use], RUN);
    const played = request(jointInput("Plan plan_approval-8@bob@x", "Plan plan_approval-9@ada@x"));
    const lookup = playbookLookup({ version: 1, agents: {} }, played, { cwd: "/", env: {} });
    expect(fillInput("SendMessage", tool?.input ?? {}, lookup)).toEqual({
      list: ["plan_approval-9@ada@x", "plan_approval-8@bob@x"],
    });
  });
});

describe("a recorded call", () => {
  const asked = request(message("Go.", "plan-77@ada@run-abcd"));
  const played = request(message("Go.", "plan-88@ada@run-ffff"));
  const place = { cwd: "/other place", env: {} };

  /** Returns the input that a replay in another directory makes of a recorded input. */
  function replayedInput(name: string, input: Record<string, unknown>): unknown {
    const [tool] = recordedTools(asked, [{ type: "tool_use", id: "1", name, input }], RUN);
    const lookup = playbookLookup({ version: 1, agents: {} }, { ...played, planFile: "/p.md" }, place);
    return fillInput(name, tool?.input ?? {}, lookup);
  }

  it.each([
    ["a path below the directory", `${RUN.cwd}/src/a.ts`, "/other place/src/a.ts"],
    ["the directory itself", RUN.cwd, "/other place"],
    ["a path that only begins like the directory", `${RUN.cwd}-2/a.ts`, `${RUN.cwd}-2/a.ts`],
    ["a path that only ends like the directory", `/mnt${RUN.cwd}`, `/mnt${RUN.cwd}`],
    ["the plan file", "/home/ada/plans/run-abcd-ada.md", "/p.md"],
    ["the id of the answered request", "plan-77@ada@run-abcd", "plan-88@ada@run-ffff"],
    ["a member's address", "ada@run-abcd", "ada"],
    ["braces of the original", "{{cwd}} and {{ name }} and {{.Go}}", "{{cwd}} and {{ name }} and {{.Go}}"],
  ])("is translated to the replay's place: %s", (_, recorded, replayed) => {
    expect(replayedInput("Write", { file_path: recorded, list: [{ deep: recorded }] })).toEqual({
      file_path: replayed,
      list: [{ deep: replayed }],
    });
  });

  it.each([
    ["an unquoted path", `cat ${RUN.cwd}/a.txt`, "cat '/other place'/a.txt"],
    ["a quoted path", `cat "${RUN.cwd}/a.txt"`, `cat ""'/other place'"/a.txt"`],
    ["a here-document, left unchanged", `cat <<E\n${RUN.cwd}\nE`, `cat <<E\n${RUN.cwd}\nE`],
  ])("of Bash keeps its words: %s", (_, command, replayed) => {
    expect(replayedInput("Bash", { command })).toEqual({ command: replayed });
  });

  it("names a task by the call that created it", () => {
    const created: ConversationMessage[] = [
      message("Go."),
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "a", name: "TaskCreate", input: { subject: "One" } }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", toolUseId: "a", content: "", isError: false, data: { task: { id: "7" } } },
        ],
      },
    ];
    const uses = [
      { type: "tool_use", id: "b", name: "TaskCreate", input: { subject: "Two" } },
      { type: "tool_use", id: "c", name: "TaskUpdate", input: { taskId: "7", addBlockedBy: ["7", "8"] } },
      { type: "tool_use", id: "d", name: "Agent", input: { name: "7", model: "opus" } },
    ] as const;
    expect(recordedTools(request(...created), uses, RUN)).toEqual([
      { name: "TaskCreate", input: { subject: "Two" }, as: "task2" },
      {
        name: "TaskUpdate",
        input: { taskId: "{{task1.task.id}}", addBlockedBy: ["{{task1.task.id}}", "8"] },
      },
      { name: "Agent", input: { name: "7" } },
    ]);
  });
});

it("escapePlaceholders preserves a text with braces", () => {
  const text = "Write {{input}}, not {{ input }} or {input}.";
  expect(fillText(escapePlaceholders(text), (name) => (name === "open" ? "{{" : "?"))).toBe(text);
});

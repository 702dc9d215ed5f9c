import { describe, expect, it } from "vitest";
import type { ConversationMessage, ModelRequest } from "../../../src/agent/model/model.ts";
import { fillInput, fillText } from "../../../src/agent/model/playbook-text.ts";
import { playbookLookup } from "../../../src/agent/model/playbook-values.ts";
import { recordedCondition, recordedText, recordedTools } from "../../../src/agent/model/recorded-values.ts";
import { chooseTurn } from "../../../src/agent/model/scripted-choice.ts";

const RUN = { cwd: "/home/a.b/work", team: "run-abcd" };
const ANSWER: ConversationMessage = { role: "assistant", content: [{ type: "text", text: "Yes." }] };

function message(text: string, requestId?: string): ConversationMessage {
  const origin = { text, from: "ada", ...(requestId === undefined ? {} : { requestId }) };
  return { role: "user", content: [{ type: "text", text: `<m>${text}</m>` }], origin };
}

function request(...messages: ConversationMessage[]): ModelRequest {
  return { system: "", tools: [], messages, planFile: "/home/ada/plans/run-abcd-ada.md" };
}

describe("what a recorded turn waits for", () => {
  it.each([
    ["the first input of a conversation: nothing", [message("Plan first.")], undefined],
    ["a message that is always the same", [ANSWER, message("It is (all) done.\nBye.")], "It is (all) done."],
  ])("%s", (_, messages, contains) => {
    const on = recordedCondition(request(...messages), RUN);
    expect(on).toEqual(contains === undefined ? undefined : { contains });
  });

  it("is what says more, where the newest only says that somebody is idle", () => {
    const origin = { text: "ada is idle.", from: "ada", telling: "It is done." };
    const together: ConversationMessage = { role: "user", content: [], origin };
    expect(recordedCondition(request(ANSWER, together), RUN)).toEqual({ contains: "It is done." });
  });

  it("is the result of a tool behind a call", () => {
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

  it("lets what belongs to one run alone be anything, and nothing else", () => {
    const text = `Task #12 of run-abcd is ${RUN.cwd}/x (done?) for plan-1795@ada`;
    const matches = recordedCondition(request(ANSWER, message(text)), RUN)?.matches ?? "";
    const pattern = new RegExp(matches, "u");
    expect(pattern.test(text)).toBe(true);
    expect(pattern.test("Task #3 of run-00ff is /elsewhere/x (done?) for plan-2@ada")).toBe(true);
    expect(pattern.test("Task #3 of run-00ff is /elsewhere/x (begun) for plan-2@ada")).toBe(false);
  });
});

describe("a recorded call", () => {
  const asked = request(message("Go.", "plan-77@ada@run-abcd"));
  const played = request(message("Go.", "plan-88@ada@run-ffff"));
  const place = { cwd: "/other place", env: {} };

  /** What a replay in another place makes of it. */
  function again(name: string, input: Record<string, unknown>): unknown {
    const [tool] = recordedTools(asked, [{ type: "tool_use", id: "1", name, input }], RUN);
    const lookup = playbookLookup({ version: 1, agents: {} }, { ...played, planFile: "/p.md" }, place);
    return fillInput(name, tool?.input ?? {}, lookup);
  }

  it.each([
    ["a path below the directory", `${RUN.cwd}/src/a.ts`, "/other place/src/a.ts"],
    ["the directory itself", RUN.cwd, "/other place"],
    ["one that only begins alike", `${RUN.cwd}-2/a.ts`, `${RUN.cwd}-2/a.ts`],
    ["one that ends alike", `/mnt${RUN.cwd}`, `/mnt${RUN.cwd}`],
    ["the plan", "/home/ada/plans/run-abcd-ada.md", "/p.md"],
    ["the id of what is answered", "plan-77@ada@run-abcd", "plan-88@ada@run-ffff"],
    ["an address", "ada@run-abcd", "ada"],
    ["braces of its own", "{{cwd}} and {{ name }} and {{.Go}}", "{{cwd}} and {{ name }} and {{.Go}}"],
  ])("means in a replay what it meant: %s", (_, recorded, replayed) => {
    expect(again("Write", { file_path: recorded, list: [{ deep: recorded }] })).toEqual({
      file_path: replayed,
      list: [{ deep: replayed }],
    });
  });

  it.each([
    ["a word", `cat ${RUN.cwd}/a.txt`, "cat '/other place'/a.txt"],
    ["a quoted one", `cat "${RUN.cwd}/a.txt"`, `cat ""'/other place'"/a.txt"`],
    ["behind a here-document", `cat <<E\n${RUN.cwd}\nE`, `cat <<E\n${RUN.cwd}\nE`],
  ])("of a shell keeps its words: %s", (_, command, replayed) => {
    expect(again("Bash", { command })).toEqual({ command: replayed });
  });

  it("names a task by the call that made it", () => {
    const made: ConversationMessage[] = [
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
    expect(recordedTools(request(...made), uses, RUN)).toEqual([
      { name: "TaskCreate", input: { subject: "Two" }, as: "task2" },
      {
        name: "TaskUpdate",
        input: { taskId: "{{task1.task.id}}", addBlockedBy: ["{{task1.task.id}}", "8"] },
      },
      { name: "Agent", input: { name: "7" } },
    ]);
  });
});

it("a recorded text with braces is said as it was", () => {
  const text = "Write {{input}}, not {{ input }} or {input}.";
  expect(fillText(recordedText(text), (name) => (name === "open" ? "{{" : "?"))).toBe(text);
});

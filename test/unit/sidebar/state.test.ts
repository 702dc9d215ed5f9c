import { describe, expect, test } from "vitest";
import { actionOf, KEYS } from "../../../src/sidebar/keys.ts";
import { click, press, type SidebarState, START, selectedTarget, write } from "../../../src/sidebar/state.ts";
import { AUDIT } from "../../support/sidebar/sidebar-data.ts";

/** The state behind some keys, one after the other. */
function afterKeys(...keys: readonly string[]): SidebarState {
  return keys.reduce((state, key) => {
    const action = actionOf(key);
    if (action === undefined) throw new Error(`${key} is bound to nothing`);
    return press(state, action, AUDIT).state;
  }, START);
}

describe("keys", () => {
  test("none is bound twice", () => {
    const all = KEYS.flatMap(({ keys }) => keys);
    expect(new Set(all).size).toBe(all.length);
  });

  test("j and k move and stop at the ends", () => {
    expect(selectedTarget(afterKeys("j", "j"), AUDIT)).toEqual({ kind: "member", name: "history" });
    expect(selectedTarget(afterKeys("down", "up", "k"), AUDIT)).toEqual({
      kind: "member",
      name: "team-lead",
    });
    expect(selectedTarget(afterKeys("S-g", "j"), AUDIT)).toEqual({ kind: "member", name: "檢查員" });
    expect(selectedTarget(afterKeys("S-g", "g"), AUDIT)).toEqual({ kind: "member", name: "team-lead" });
  });

  test("Enter goes to the selected member's pane, in the task list to the owner's", () => {
    expect(press(afterKeys("j"), "go", AUDIT).effect).toEqual({ kind: "focus", member: "inventory" });
    expect(press(afterKeys("t", "j"), "go", AUDIT).effect).toEqual({ kind: "focus", member: "history" });
  });

  test("h hides the selected member's pane, in the task list the owner's, and nothing in the help", () => {
    expect(press(afterKeys("j"), "hide", AUDIT).effect).toEqual({ kind: "hide", member: "inventory" });
    expect(press(afterKeys("t", "j"), "hide", AUDIT).effect).toEqual({ kind: "hide", member: "history" });
    expect(press(afterKeys("?"), "hide", AUDIT)).toEqual({ state: afterKeys("?") });
    expect(actionOf("h")).toBe("hide");
  });

  test("Enter on a task that nobody has says so, until the next key", () => {
    const tasks = { list: AUDIT.status.tasks.list.map(({ owner: _, ...task }) => task) };
    const free = { ...AUDIT, status: { ...AUDIT.status, tasks } };
    const { state, effect } = press(afterKeys("t"), "go", free);
    expect(effect).toBeUndefined();
    expect(state.notice).toBe("nobody has this task yet");
    expect(press(state, "down", free).state.notice).toBeUndefined();
  });

  test("t and ? switch there and back, Esc goes back", () => {
    expect(afterKeys("t").view).toBe("tasks");
    expect(afterKeys("t", "t").view).toBe("team");
    expect(afterKeys("?", "?").view).toBe("team");
    expect(afterKeys("t", "escape").view).toBe("team");
  });

  test("q and Ctrl-C close", () => {
    expect(actionOf("C-c")).toBe("close");
    expect(press(START, "close", AUDIT).effect).toEqual({ kind: "close" });
  });
});

test("the selection stays with its member when others come and go", () => {
  const state = afterKeys("j", "j");
  const fewer = { ...AUDIT, status: { ...AUDIT.status, members: AUDIT.status.members.slice(2) } };
  expect(selectedTarget(state, fewer)).toEqual({ kind: "member", name: "history" });
  const gone = { ...AUDIT, status: { ...AUDIT.status, members: AUDIT.status.members.slice(0, 2) } };
  expect(selectedTarget(state, gone)).toEqual({ kind: "member", name: "team-lead" });
});

test("a click selects, and a click on the selected one goes there", () => {
  const target = { kind: "member", name: "writer" } as const;
  const first = click(START, target, AUDIT);
  expect(first.effect).toBeUndefined();
  expect(selectedTarget(first.state, AUDIT)).toEqual(target);
  expect(click(first.state, target, AUDIT).effect).toEqual({ kind: "focus", member: "writer" });
});

test("nothing selected and nothing to select is no failure", () => {
  const empty = { status: { team: "t", members: [], tasks: { list: [] }, approvals: [] }, messages: [] };
  expect(press(START, "down", empty)).toEqual({ state: START });
  expect(press(START, "go", empty)).toEqual({ state: START });
});

describe("an answer to what waits (S61)", () => {
  const plan = { id: "plan_approval-1@writer@audit", from: "writer" };
  const approvals = [
    ...AUDIT.status.approvals,
    { id: "perm-2", kind: "permission" as const, from: "history", summary: "Bash(ls)" },
  ];
  const two = { ...AUDIT, status: { ...AUDIT.status, approvals } };
  const typed = (state: SidebarState, ...keys: readonly string[]) =>
    keys.reduce((step, key) => write(step.state, key, key.length === 1 ? key : undefined), {
      state,
    } as ReturnType<typeof write>);

  test("is for what has waited longest, or what the selected member waits with", () => {
    expect(press(START, "approve", two).state.answer).toEqual({ ...plan, approve: true, note: "" });
    const { state } = press(START, "last", two);
    expect(press(state, "reject", two).state.answer).toEqual({ ...plan, approve: false, note: "" });
    const onHistory = afterKeys("j", "j");
    expect(press(onHistory, "approve", two).state.answer).toMatchObject({ id: "perm-2", from: "history" });
  });

  test("is none where nothing waits, which is said", () => {
    const none = { ...AUDIT, status: { ...AUDIT.status, approvals: [] } };
    const { state } = press(START, "approve", none);
    expect([state.answer, state.notice]).toEqual([undefined, "nothing waits for an answer"]);
  });

  test("takes a note, in which keys are characters, and is sent with Enter", () => {
    const begun = press(START, "reject", two).state;
    const step = typed(begun, ..."quit ja", "backspace", "é", "檢", "f1", "up", " ", "enter");
    expect(step.effect).toEqual({
      kind: "answer",
      answer: { ...plan, approve: false, note: "quit jé檢" },
    });
    expect(step.state.answer).toBeUndefined();
    expect(typed(begun, "return").effect).toMatchObject({ answer: { note: "" } });
    expect(typed(begun, "x", "C-u", "y").state.answer?.note).toBe("y");
    expect(write(begun, "undefined", "\x1b").state.answer?.note).toBe("");
  });

  test.each(["escape", "C-c"])("is left with %s, and nothing is sent", (key) => {
    const step = typed(press(START, "approve", two).state, "x", key);
    expect(step).toEqual({ state: START });
  });
});

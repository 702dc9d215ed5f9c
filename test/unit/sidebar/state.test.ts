import { describe, expect, test } from "vitest";
import { actionOf, KEYS } from "../../../src/sidebar/keys.ts";
import { click, press, type SidebarState, START, selectedTarget, write } from "../../../src/sidebar/state.ts";
import { AUDIT } from "../../support/sidebar/sidebar-data.ts";

/** The state after these keys. */
function afterKeys(...keys: readonly string[]): SidebarState {
  return keys.reduce((state, key) => {
    const action = actionOf(key);
    if (action === undefined) throw new Error(`${key} is bound to nothing`);
    return press(state, action, AUDIT).state;
  }, START);
}

describe("keys of the sidebar", () => {
  test("no key is bound twice", () => {
    const all = KEYS.flatMap(({ keys }) => keys);
    expect(new Set(all).size).toBe(all.length);
  });

  test("j and k move the selection and stop at the ends", () => {
    expect(selectedTarget(afterKeys("j", "j"), AUDIT)).toEqual({ kind: "member", name: "history" });
    expect(selectedTarget(afterKeys("down", "up", "k"), AUDIT)).toEqual({
      kind: "member",
      name: "team-lead",
    });
    expect(selectedTarget(afterKeys("S-g", "j"), AUDIT)).toEqual({ kind: "member", name: "檢查員" });
    expect(selectedTarget(afterKeys("S-g", "g"), AUDIT)).toEqual({ kind: "member", name: "team-lead" });
  });

  test("Enter focuses the pane of the selected member or of the selected task's owner", () => {
    expect(press(afterKeys("j"), "go", AUDIT).effect).toEqual({ kind: "focus", member: "inventory" });
    expect(press(afterKeys("t", "j"), "go", AUDIT).effect).toEqual({ kind: "focus", member: "history" });
  });

  test("h hides the pane of the selected member or task owner, and does nothing in the help", () => {
    expect(press(afterKeys("j"), "hide", AUDIT).effect).toEqual({ kind: "hide", member: "inventory" });
    expect(press(afterKeys("t", "j"), "hide", AUDIT).effect).toEqual({ kind: "hide", member: "history" });
    expect(press(afterKeys("?"), "hide", AUDIT)).toEqual({ state: afterKeys("?") });
    expect(actionOf("h")).toBe("hide");
  });

  test("Enter on an unassigned task shows a notice until the next key", () => {
    const tasks = { list: AUDIT.status.tasks.list.map(({ owner: _, ...task }) => task) };
    const free = { ...AUDIT, status: { ...AUDIT.status, tasks } };
    const { state, effect } = press(afterKeys("t"), "go", free);
    expect(effect).toBeUndefined();
    expect(state.notice).toBe("this task has no owner yet");
    expect(press(state, "down", free).state.notice).toBeUndefined();
  });

  test("t and ? open and close their view, and Esc closes it", () => {
    expect(afterKeys("t").view).toBe("tasks");
    expect(afterKeys("t", "t").view).toBe("team");
    expect(afterKeys("?", "?").view).toBe("team");
    expect(afterKeys("t", "escape").view).toBe("team");
  });

  test("q and Ctrl-C close the sidebar", () => {
    expect(actionOf("C-c")).toBe("close");
    expect(press(START, "close", AUDIT).effect).toEqual({ kind: "close" });
  });
});

test("the sidebar's selection stays with its member when other members join and leave", () => {
  const state = afterKeys("j", "j");
  const fewer = { ...AUDIT, status: { ...AUDIT.status, members: AUDIT.status.members.slice(2) } };
  expect(selectedTarget(state, fewer)).toEqual({ kind: "member", name: "history" });
  const gone = { ...AUDIT, status: { ...AUDIT.status, members: AUDIT.status.members.slice(0, 2) } };
  expect(selectedTarget(state, gone)).toEqual({ kind: "member", name: "team-lead" });
});

test("a click in the sidebar selects a member, and a click on the selected member focuses its pane", () => {
  const target = { kind: "member", name: "writer" } as const;
  const first = click(START, target, AUDIT);
  expect(first.effect).toBeUndefined();
  expect(selectedTarget(first.state, AUDIT)).toEqual(target);
  expect(click(first.state, target, AUDIT).effect).toEqual({ kind: "focus", member: "writer" });
});

test("keys of the sidebar are ignored in an empty team", () => {
  const empty = { status: { team: "t", members: [], tasks: { list: [] }, approvals: [] }, messages: [] };
  expect(press(START, "down", empty)).toEqual({ state: START });
  expect(press(START, "go", empty)).toEqual({ state: START });
});

describe("answering a request in the sidebar (S61)", () => {
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

  test("is for the selected member's request, else for the oldest one", () => {
    expect(press(START, "approve", two).state.answer).toEqual({ ...plan, approve: true, note: "" });
    const { state } = press(START, "last", two);
    expect(press(state, "reject", two).state.answer).toEqual({ ...plan, approve: false, note: "" });
    const onHistory = afterKeys("j", "j");
    expect(press(onHistory, "approve", two).state.answer).toMatchObject({ id: "perm-2", from: "history" });
  });

  test("shows a notice if no request waits", () => {
    const none = { ...AUDIT, status: { ...AUDIT.status, approvals: [] } };
    const { state } = press(START, "approve", none);
    expect([state.answer, state.notice]).toEqual([undefined, "nothing waits for an answer"]);
  });

  test("reads a note, in which keys are characters, and sends it on Enter", () => {
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

  test.each(["escape", "C-c"])("is cancelled by %s without an answer", (key) => {
    const step = typed(press(START, "approve", two).state, "x", key);
    expect(step).toEqual({ state: START });
  });
});

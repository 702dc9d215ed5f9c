import { describe, expect, test } from "vitest";
import type { SidebarApproval } from "../../../src/sidebar/data.ts";
import type { Source } from "../../../src/sidebar/documents.ts";
import { actionOf, KEYS } from "../../../src/sidebar/keys.ts";
import { IN_LISTS, settled } from "../../../src/sidebar/press.ts";
import { pasted, write } from "../../../src/sidebar/prompts.ts";
import {
  currentRequest,
  type SidebarState,
  START,
  selectedTarget,
  targets,
} from "../../../src/sidebar/state.ts";
import { click, press, withContent } from "../../../src/sidebar/step.ts";
import { IN_READERS } from "../../../src/sidebar/views/reading.ts";
import { AUDIT } from "../../support/sidebar/sidebar-data.ts";

/** Returns the state after these keys. */
function afterKeys(...keys: readonly string[]): SidebarState {
  return keys.reduce((state, key) => {
    const action = actionOf(key, state.view);
    if (action === undefined) throw new Error(`${key} is bound to nothing`);
    return press(state, action, AUDIT).state;
  }, START);
}

function onMember(action: string, member: string): object {
  return { kind: "member", action, member };
}

describe("keys of the sidebar", () => {
  test("no key is bound twice in a view", () => {
    const all = KEYS.flatMap(({ keys, in: views }) =>
      views.flatMap((view) => keys.map((key) => `${view} ${key}`)),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  test("each key of each view does something", () => {
    for (const { action, in: views } of KEYS)
      for (const view of views) {
        const handlers = ["team", "tasks", "graph"].includes(view) ? IN_LISTS : IN_READERS;
        expect(handlers[action], `${action} in ${view}`).toBeTypeOf("function");
      }
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
    expect(press(afterKeys("j"), "go", AUDIT).effect).toEqual(onMember("focus", "inventory"));
    expect(press(afterKeys("t", "j"), "go", AUDIT).effect).toEqual(onMember("focus", "history"));
  });

  test("h hides the pane of the selected member or task owner, and does nothing in the help", () => {
    expect(press(afterKeys("j"), "hide", AUDIT).effect).toEqual(onMember("hide", "inventory"));
    expect(press(afterKeys("t", "j"), "hide", AUDIT).effect).toEqual(onMember("hide", "history"));
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
    expect(afterKeys("?", "escape").view).toBe("team");
    expect(afterKeys("t", "?", "q").view).toBe("tasks");
    expect(afterKeys("w", "w").view).toBe("team");
    expect(afterKeys("t", "escape").view).toBe("team");
  });

  test("o opens the selected task in the list and in the graph, and q goes back to it", () => {
    const opens = { kind: "open", source: { kind: "task", id: "2" } };
    expect(press(afterKeys("t", "j"), "task", AUDIT).effect).toEqual(opens);
    expect(afterKeys("t", "o").view).toBe("task");
    expect(afterKeys("w", "o", "q").view).toBe("graph");
    expect(actionOf("o")).toBeUndefined();
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
  expect(click(first.state, target, AUDIT).effect).toEqual(onMember("focus", "writer"));
});

test("keys of the sidebar are ignored in an empty team", () => {
  const empty = { status: { team: "t", members: [], tasks: { list: [] }, approvals: [] }, messages: [] };
  expect(press(START, "down", empty)).toEqual({ state: START });
  expect(press(START, "go", empty)).toEqual({ state: START });
});

describe("answering a request in the sidebar (S61)", () => {
  const [{ id, from }] = AUDIT.status.approvals as unknown as [SidebarApproval];
  const plan = { id, from };
  const approvals = [
    ...AUDIT.status.approvals,
    { id: "perm-2", kind: "permission" as const, from: "history", summary: "Bash(ls)" },
  ];
  const two = { ...AUDIT, status: { ...AUDIT.status, approvals } };
  const typed = (state: SidebarState, ...keys: readonly string[]) =>
    keys.reduce((step, key) => write(step.state, key, key.length === 1 ? key : undefined), {
      state,
    } as ReturnType<typeof write>);

  const seen = new Map(approvals.map(({ id }) => [id, 1_000]));

  /** The cursor on the writer, which asks for its plan. */
  const onWriter = afterKeys("j", "j", "j");

  const promptOf = (state: SidebarState) =>
    state.prompt as Extract<SidebarState["prompt"], { kind: "answer" }>;

  test("opens a request that the screen shows in part, instead of approving it", () => {
    const { state, effect } = press(onWriter, "approve", two, new Map([["perm-2", 1_000]]));
    expect([state.prompt, state.view]).toEqual([undefined, "request"]);
    expect(effect).toMatchObject({ kind: "open", source: { kind: "request", id: plan.id } });
    expect(press(onWriter, "reject", two).state.prompt).toMatchObject({ id: plan.id, verdict: "no" });
    const onHistory = press(afterKeys("j", "j"), "approve", two, new Map([["perm-2", 1_000]]));
    expect(promptOf(onHistory.state).id).toBe("perm-2");
  });

  test("does not approve a request that has just appeared: the key was meant for another", () => {
    const { state } = press(onWriter, "approve", two, new Map([[plan.id, 100]]));
    expect([state.prompt, state.notice]).toEqual([undefined, expect.stringContaining("just appeared")]);
    expect(promptOf(press(onWriter, "reject", two, new Map([[plan.id, 100]])).state).verdict).toBe("no");
  });

  test("applies to the request of the member under the cursor", () => {
    const writers = { ...plan, verdict: "yes", text: "" };
    expect(press(onWriter, "approve", two, seen).state.prompt).toMatchObject(writers);
    const onHistory = afterKeys("j", "j");
    expect(press(onHistory, "approve", two, seen).state.prompt).toMatchObject({
      id: "perm-2",
      from: "history",
    });
  });

  test.each(["approve", "reject", "view"] as const)(
    "%s neither answers nor opens anything if the member under the cursor has no request",
    (action) => {
      for (const state of [START, press(START, "last", two).state]) {
        const step = press(state, action, two, seen);
        expect([step.state.prompt, step.effect, step.state.view]).toEqual([undefined, undefined, "team"]);
        expect(step.state.notice).toMatch(/^(team-lead|檢查員) has no request; n selects the next one$/);
      }
    },
  );

  test("applies to the request of the owner of the task under the cursor", () => {
    const onTask = (id: string): SidebarState => ({ view: "tasks", task: id });
    expect(press(onTask("6"), "approve", two, seen).state.prompt).toMatchObject(plan);
    expect(press(onTask("4"), "approve", two, seen).state.prompt).toMatchObject({ id: "perm-2" });
    expect(press(onTask("3"), "approve", two, seen).state.prompt).toBeUndefined();
  });

  test("applies to a request that n has selected, until the cursor moves, if no row shows its sender", () => {
    const orphan = { id: "perm-3", kind: "permission" as const, from: "gone", summary: "Bash(ls)" };
    const data = { ...AUDIT, status: { ...AUDIT.status, approvals: [orphan] } };
    const { state } = press(START, "next", data);
    expect(currentRequest(state, data)).toEqual(orphan);
    expect(currentRequest(press(state, "down", data).state, data)).toBeUndefined();
  });

  test("shows a notice if no request waits", () => {
    const none = { ...AUDIT, status: { ...AUDIT.status, approvals: [] } };
    const { state } = press(START, "approve", none);
    expect([state.prompt, state.notice]).toEqual([undefined, "nothing is waiting for an answer"]);
  });

  test("reads a note, in which keys are characters, and sends it on Enter", () => {
    const begun = press(onWriter, "reject", two).state;
    const step = typed(begun, ..."quit ja", "backspace", "é", "檢", "f1", "up", " ", "enter");
    expect(step.effect).toEqual({
      kind: "answer",
      answer: { ...plan, verdict: "no", note: "quit jé檢" },
    });
    expect(step.state.prompt).toBeUndefined();
    expect(typed(begun, "enter").effect).toMatchObject({ answer: { note: "" } });
    expect(typed(begun, "x", "C-u", "y").state.prompt?.text).toBe("y");
    expect(write(begun, "undefined", "\x1b").state.prompt?.text).toBe("");
    expect(typed(begun, "a", "linefeed", "b", "enter").effect).toMatchObject({ answer: { note: "a\nb" } });
  });

  test.each([
    ["at a letter", ["left", "left", "left", "X"], "one Xtwo", 3],
    ["at its start and its end", ["C-a", "X", "C-e", "Y"], "Xone twoY", undefined],
    ["between words", ["M-b", "C-left", "M-f", "X"], "oneX two", 4],
    ["by erasing before and after the cursor", ["C-left", "delete", "backspace", "C-k"], "one", undefined],
    ["by erasing words", ["C-w", "C-w", ..."three", "home", "M-d"], "", undefined],
  ])("is edited %s", (_, keys, text, afterCursor) => {
    const { prompt } = typed(press(onWriter, "approve", two, seen).state, ..."one two", ...keys).state;
    expect([prompt?.text, prompt?.afterCursor]).toEqual([text, afterCursor]);
  });

  test.each(["escape", "C-c"])("is cancelled by %s without an answer", (key) => {
    const step = typed(press(onWriter, "approve", two, seen).state, "x", key);
    expect(step).toEqual({ state: onWriter });
  });
});

describe("requests in the sidebar", () => {
  const approvals: SidebarApproval[] = [
    { id: "a", kind: "permission", from: "writer", summary: "Bash(ls)" },
    { id: "b", kind: "permission", from: "writer", summary: "Bash(pwd)" },
    { id: "c", kind: "question", from: "history", summary: "Which one?" },
  ];
  const three = { ...AUDIT, status: { ...AUDIT.status, approvals } };
  const onWriter = afterKeys("j", "j", "j");

  test("n selects each request in turn, and its member", () => {
    const requests: unknown[] = [];
    let state = START;
    for (let i = 0; i < 4; i += 1) {
      ({ state } = press(state, "next", three));
      requests.push([state.member, currentRequest(state, three)?.id]);
    }
    expect(requests).toEqual([
      ["writer", "a"],
      ["writer", "b"],
      ["history", "c"],
      ["writer", "a"],
    ]);
  });

  test("a selected request that is answered is forgotten", () => {
    const state = press(press(START, "next", three).state, "next", three).state;
    const fewer = { ...three, status: { ...three.status, approvals: approvals.slice(0, 1) } };
    expect(state.request).toBe("b");
    expect(settled(state, fewer).request).toBeUndefined();
  });

  test("the view of a request closes when the request is answered elsewhere", () => {
    const { state } = press(onWriter, "view", three);
    const none = { ...three, status: { ...three.status, approvals: [] } };
    expect(state.view).toBe("request");
    expect(settled(state, three)).toBe(state);
    expect(settled(state, none)).toMatchObject({
      view: "team",
      notice: "writer's request was already answered or closed",
    });
  });

  test("the prompt for an answer distinguishes questions and crashes from other requests", () => {
    const crash = { id: "d", kind: "crash", from: "inventory", summary: "SIGKILL" } as const;
    const four = { ...AUDIT, status: { ...AUDIT.status, approvals: [...approvals, crash] } };
    const asks = ["j", "jj", "jjj"].map((keys) => {
      const { prompt } = press(afterKeys(...keys), "reject", four).state;
      return prompt?.kind === "answer" ? [prompt.id, prompt.asks] : undefined;
    });
    expect(asks).toEqual([
      ["d", "crash"],
      ["c", "question"],
      ["a", undefined],
    ]);
  });

  const details = { id: "a", kind: "permission", from: "writer", summary: "Bash(ls)" } as const;
  const whole = (always: readonly string[] = []): SidebarState => {
    const { state } = press(onWriter, "view", three);
    return withContent(state, state.reader?.source as Source, {
      kind: "request",
      request: { ...details, always },
    });
  };

  test("y answers only when the end of the request is on the screen", () => {
    expect(press(whole(), "yes", three).state.notice).toContain("not shown yet");
    expect(press(whole(), "yes", three, new Map([["a", 100]])).state.notice).toContain("just appeared");
    const { state } = press(whole(), "yes", three, new Map([["a", 1_000]]));
    expect(state.prompt).toMatchObject({ kind: "answer", id: "a", verdict: "yes" });
    const { effect, state: after } = write(state, "enter", undefined);
    expect(effect).toMatchObject({ kind: "answer", answer: { id: "a", verdict: "yes", note: "" } });
    expect([after.view, after.reader]).toEqual(["team", undefined]);
  });

  test("n rejects a request that was not read to its end, and a needs a rule", () => {
    expect(press(whole(), "no", three).state.prompt).toMatchObject({ verdict: "no" });
    const seen = new Map([["a", 1_000]]);
    expect(press(whole(), "always", three, seen).state.notice).toContain("no rule");
    expect(press(whole(["Bash(ls:*)"]), "always", three, seen).state.prompt).toMatchObject({
      verdict: "always",
    });
  });
});

describe("lines in the sidebar", () => {
  const type = (state: SidebarState, text: string, ...keys: string[]) =>
    [...text, ...keys].reduce((step, key) => write(step.state, key, key.length === 1 ? key : undefined), {
      state,
    } as ReturnType<typeof write>);

  test("the filter lists the matches at once, Enter keeps it and Esc clears it", () => {
    const state = afterKeys("/");
    const typing = type(state, "TODO").state;
    expect(targets(typing, AUDIT)).toEqual([{ kind: "member", name: "history" }]);
    expect(targets({ ...typing, view: "tasks" }, AUDIT)).toEqual([{ kind: "task", id: "4" }]);
    const kept = write(typing, "enter", undefined).state;
    expect(kept).toMatchObject({ filter: "TODO" });
    expect(kept.prompt).toBeUndefined();
    expect(write(typing, "escape", undefined).state.filter).toBeUndefined();
    expect(press(kept, "back", AUDIT).state.filter).toBeUndefined();
  });

  test("K asks, and only y kills", () => {
    const asked = press(afterKeys("j"), "kill", AUDIT).state;
    expect(write(asked, "y", "y").effect).toEqual(onMember("kill", "inventory"));
    for (const key of ["n", "enter", "escape"])
      expect(write(asked, key, undefined)).toEqual({ state: afterKeys("j") });
  });

  test("+ asks for a name and a task", () => {
    const named = type(press(START, "spawn", AUDIT).state, "ada", "enter").state;
    expect(named.prompt).toMatchObject({ kind: "spawn-prompt", name: "ada" });
    expect(type(named, "paint", "enter").effect).toEqual({ kind: "spawn", name: "ada", prompt: "paint" });
    // After a failure, the prompt offers both texts for the next attempt, and only for that one.
    const again = press({ ...START, unstarted: { name: "ada", prompt: "paint" } }, "spawn", AUDIT).state;
    expect(again.unstarted).toBeUndefined();
    const other = { kind: "spawn", name: "ada2", prompt: "paint" };
    expect(type(type(again, "2", "enter").state, "", "enter").effect).toEqual(other);
  });

  test("i, s and z act on the selected member", () => {
    const state = afterKeys("j");
    for (const [key, action] of [
      ["i", "interrupt"],
      ["s", "shutdown"],
      ["z", "zoom"],
    ] as const) {
      expect(actionOf(key)).toBe(action);
      expect(press(state, action, AUDIT).effect).toEqual(onMember(action, "inventory"));
    }
  });

  test("a message is sent with Enter, and the line stays for the next one; Up recalls it", () => {
    const opened = press(afterKeys("j"), "messages", AUDIT);
    expect(opened.effect).toMatchObject({ kind: "open", source: { kind: "messages", member: "inventory" } });
    const messages = [{ from: "team-lead", to: "inventory", text: "before", at: 1 }];
    const source = opened.state.reader?.source as Source;
    const ready = withContent(opened.state, source, { kind: "messages", messages, own: "team-lead" });
    const sent = type(ready, "hi", "enter");
    expect(sent.effect).toEqual({ kind: "message", to: "inventory", text: "hi" });
    const recalled = ["up", "up", "up", "down"].map(
      (_, i, keys) => type(sent.state, "", ...keys.slice(0, i + 1)).state.prompt?.text,
    );
    expect(recalled).toEqual(["hi", "before", "before", "hi"]);
    expect(write(sent.state, "escape", undefined).state).toMatchObject({ view: "messages" });
    // Down restores the new text after earlier messages, but only until the text is sent.
    const back = type(sent.state, "new", "up", "up", "down", "down");
    expect(back.state.prompt).toMatchObject({ text: "new", at: 0 });
    const other = type(sent.state, "new", "up", "enter", "up", "down");
    expect(other.state.prompt).toMatchObject({ text: "", at: 0 });
  });

  test("a paste that is longer than a line says that its end was left out", () => {
    const prompt = { kind: "message", to: "inventory", text: "", sent: [], at: 0 } as const;
    const whole = pasted({ view: "messages", prompt }, "x".repeat(2_000)).state;
    expect([whole.prompt?.text.length, whole.notice]).toEqual([2_000, undefined]);
    for (const { state } of [pasted(whole, "y"), write(whole, "y", "y")]) {
      expect(state.prompt?.text).toBe(whole.prompt?.text);
      expect(state.notice).toBe("a line has at most 2,000 characters; the rest was left out");
    }
  });

  test("the sidebar asks before it closes with comments that were not sent", () => {
    const place = { path: "a", line: 1, side: "after", quote: "x" } as const;
    const state: SidebarState = { view: "team", comments: { ada: [{ ...place, text: "why?" }] } };
    const asked = press(state, "close", AUDIT);
    expect(asked.effect).toBeUndefined();
    expect(write(asked.state, "n", "n")).toEqual({ state });
    expect(write(asked.state, "y", "y").effect).toEqual({ kind: "close" });
  });
});

test("Esc hides failures before it clears the filter", () => {
  const state: SidebarState = { view: "team", failures: ["no pane"], filter: "a" };
  expect(press(state, "back", AUDIT).state).toEqual({ view: "team", filter: "a" });
  expect(press({ view: "team", filter: "a" }, "back", AUDIT).state).toEqual({ view: "team" });
});

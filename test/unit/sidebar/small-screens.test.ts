import { describe, expect, test } from "vitest";
import type { SidebarData } from "../../../src/sidebar/data.ts";
import type { Content, Source } from "../../../src/sidebar/documents.ts";
import { type SidebarState, START } from "../../../src/sidebar/state.ts";
import { withContent } from "../../../src/sidebar/step.ts";
import { frame } from "../../../src/sidebar/view-model.ts";
import { AUDIT, member } from "../../support/sidebar/sidebar-data.ts";

/** Returns the last rows of a sidebar. */
const lastRows = (
  state: SidebarState,
  width: number,
  height: number,
  count: number,
  data: SidebarData = AUDIT,
): string[] =>
  frame(data, state, { width, height })
    .slice(-count)
    .map(({ spans }) =>
      spans
        .map((span) => span.text)
        .join("")
        .trimEnd(),
    );

const LONG = `/home/ada/${"some-long-directory/".repeat(6)}src`;
const ANSWER = {
  kind: "answer",
  id: "p",
  from: "writer",
  summary: `Edit(${LONG}/clock.ts)`,
  verdict: "yes",
  text: "",
} as const;

describe("a low sidebar", () => {
  test("has one row of hints, closer to each other if it is narrow", () => {
    expect(lastRows(START, 40, 9, 1)).toEqual([" n next request ↵ go ? help q close"]);
    expect(lastRows({ view: "team", member: "writer" }, 40, 9, 1)).toEqual([
      " a approve r reject v view ↵ go q close",
    ]);
    expect(lastRows(START, 80, 10, 1)).toEqual([
      " n next request  ↵ go  m message  d diff  l log  t tasks  ? help  q close",
    ]);
  });

  test("shows the keys of a line after its cursor until the line has a text, as many as fit", () => {
    const prompted = (prompt: SidebarState["prompt"], width = 40): string | undefined =>
      lastRows({ view: "team", ...(prompt && { prompt }) }, width, 9, 1)[0];
    expect(prompted(ANSWER)).toBe(" approve writer: ▏ ↵ sends · Esc cancels");
    expect(prompted(ANSWER, 34)).toBe(" approve writer: ▏ ↵ sends");
    expect(prompted({ ...ANSWER, text: "ok" })).toBe(" approve writer: ok▏");
    expect(prompted({ kind: "filter", text: "" })).toBe(" filter: ▏ ↵ keeps · Esc clears");
    expect(prompted({ ...ANSWER, from: "a-member-with-a-long-name" }, 34)).toBe(" ▏ ↵ sends · Esc cancels");
  });
});

test("the key hints › name only the keys that apply to the selected row", () => {
  const some = ["a approve", "v view", "o open", "Esc clear", "i interrupt", "s shut down", "K kill"];
  const hints = (state: SidebarState, data?: SidebarData): readonly string[] => {
    const [row = ""] = lastRows(state, 300, 10, 1, data);
    return some.filter((hint) => row.includes(` ${hint}`));
  };
  expect(hints(START)).toEqual([]);
  expect(hints({ ...START, filter: "lead" })).toEqual(["Esc clear"]);
  expect(hints({ view: "team", member: "inventory" })).toEqual(["i interrupt", "s shut down", "K kill"]);
  expect(hints({ view: "team", member: "writer" })).toEqual(["a approve", "v view", "s shut down", "K kill"]);
  expect(hints({ view: "tasks", task: "5" })).toEqual(["o open", "i interrupt", "s shut down", "K kill"]);
  const members = [member("ada", { state: "needs-input" })];
  const asking = { ...AUDIT, status: { ...AUDIT.status, members, approvals: [] } };
  expect(hints({ view: "team", member: "ada" }, asking)).toEqual(["i interrupt", "s shut down", "K kill"]);
});

test("an answer being typed never cuts the name of the file above it", () => {
  const rows = (cwd?: string): string[] =>
    lastRows({ view: "team", prompt: { ...ANSWER, cwd } }, 40, 9, 3).slice(0, 2);
  expect(rows("/home/bob")).toEqual([
    " Edit(/home/ada/some-long-directory/some",
    " -long-directory/…/src/clock.ts)",
  ]);
  expect(rows(LONG)[1]).toBe(" Edit(clock.ts)");
});

describe("a request that is shown whole", () => {
  const source: Source = { kind: "request", id: "p", from: "writer" };
  const showing = (summary: string): SidebarState => {
    const request = { id: "p", kind: "permission", from: "writer", summary, always: ["Bash"] } as const;
    const content: Content = { kind: "request", request };
    const reader = { source, top: 0, cursor: 0, back: "team" } as const;
    return withContent({ view: "request", reader }, source, content);
  };

  test("names the key for the next page only if there is one, and keeps it when other keys do not fit", () => {
    expect(lastRows(showing("Bash(ls)"), 34, 9, 1)).toEqual([" y yes n no a always q back"]);
    const long = showing(`Bash(${"ls; ".repeat(90)})`);
    expect(lastRows(long, 40, 9, 1)).toEqual([" y yes n no a always Space page q back"]);
    expect(lastRows(long, 34, 9, 1)).toEqual([" y yes n no Space page q back"]);
  });

  test("names the key for the next page if a failure below leaves too few rows", () => {
    const hints = (state: SidebarState): string | undefined => lastRows(state, 40, 9, 1)[0];
    const states = Array.from({ length: 90 }, (_, i) => showing(`Bash(${"ls; ".repeat(i)})`));
    const fitting =
      states.filter((state) => hints(state) === " y yes n no a always / search q back").at(-1) ?? START;
    expect(hints({ ...fitting, failures: ["ada failed"] })).toBe(" y yes n no a always Space page q back");
  });
});

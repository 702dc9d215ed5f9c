import { TONE } from "../../text/style.ts";
import { KEYS, type View } from "../keys.ts";
import { SHOWN_LOOKS, STATE_LOOKS, TASK_LOOKS } from "../labels.ts";
import { type Span, span } from "../spans.ts";
import { type ReaderRow, row } from "./reader.ts";

/** The views by group: a key is listed in the first group that has it. */
const GROUPS: readonly (readonly [title: string, views: readonly View[]])[] = [
  ["KEYS", ["team", "tasks", "graph"]],
  ["A WHOLE REQUEST (v)", ["request"]],
  ["A DIFF (d)", ["diff"]],
  ["MESSAGES (m)", ["messages"]],
  ["TEAMS (T)", ["teams"]],
  ["TEXTS", ["log", "task", "help"]],
];

/** All keys and the meaning of the symbols. */
export function helpDocument(): readonly ReaderRow[] {
  const quiet = { fg: TONE.quiet };
  const sign = (text: string, fg?: number): Span => span(text.padEnd(6), { fg });
  const states = Object.values(STATE_LOOKS).map((look) => [sign(look.sign, look.tone), span(look.word)]);
  const tasks = Object.values(TASK_LOOKS).map((look) => [sign(look.sign, look.tone), span(look.word)]);
  const proofs = Object.values(SHOWN_LOOKS).map((look) => [
    span("✓", quiet),
    span(look.sign.padEnd(5), { fg: look.tone }),
    span(`said done, ${look.word}`),
  ]);
  const figures = [
    [span("#3    "), span("its task")],
    [span("↓2    ", { fg: TONE.attention }), span("unread messages")],
    [span("12.3k ", quiet), span("tokens in and out")],
    [span("↑     ", quiet), span("in the graph: listed above")],
  ];
  const part = (title: string, rows: readonly (readonly Span[])[]): ReaderRow[] =>
    rows.length === 0
      ? []
      : [row([span(title, { ...quiet, bold: true })]), ...rows.map((one) => row(one)), row([])];
  return [
    ...keyGroups().flatMap(([title, rows]) => part(title, rows)),
    ...part("MEMBERS", states),
    ...part("TASKS", tasks),
    ...part("SAID AND SHOWN", proofs),
    ...part("FIGURES", figures),
  ];
}

function keyGroups(): readonly (readonly [string, readonly (readonly Span[])[]])[] {
  const listed = new Set<string>();
  return GROUPS.map(([title, views]) => {
    const own = KEYS.filter(
      ({ in: places, label, does }) =>
        places.some((view) => views.includes(view)) && !listed.has(`${label} ${does}`),
    );
    for (const { label, does } of own) listed.add(`${label} ${does}`);
    return [title, own.map(({ label, does }) => [span(label.padEnd(6), { bold: true }), span(does)])];
  });
}

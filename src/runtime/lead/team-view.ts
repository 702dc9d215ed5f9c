import { type InProcessState, isOver } from "../../backend/in-process/states.ts";
import type { Task } from "../../schema/task.ts";
import { TASK_LOOKS, taskState } from "../../sidebar/labels.ts";
import { lineEnd } from "../../terminal/input-row.ts";
import type { ViewKey } from "../../terminal/line-editor.ts";
import { cutPainted } from "../../terminal/pane-writer.ts";
import { memberColor, type Style, type Styler, TONE } from "../../text/style.ts";
import { cutToWidth, displayWidth, gridText } from "../../text/terminal-text.ts";

/** What a lead's pane shows: its own paper, its teammates with one selected, one of them, or the tasks. */
export interface TeamView {
  readonly at: "lead" | "list" | "agent" | "tasks";
  /** Whose name is selected; undefined before anybody was. */
  readonly selected: string | undefined;
  /** Rows that it is scrolled back, of an agent's. */
  readonly back: number;
  /** What stands behind the tasks. */
  readonly behind?: TeamView["at"];
}

export const LEAD_VIEW: TeamView = { at: "lead", selected: undefined, back: 0 };

/** A teammate as it is shown. */
export interface AgentSummary {
  readonly name: string;
  readonly color: string;
  readonly state: InProcessState;
  /** What it says that it does. */
  readonly activity: string;
  /** What it has shown last, in its colours. */
  readonly lines: readonly string[];
}

export interface ViewFacts {
  readonly team: string;
  readonly agents: readonly AgentSummary[];
  readonly tasks: readonly Task[];
}

export type KeyPress = ViewKey | "enter" | "escape";

/** Rows of a jump by a page. */
const PAGE = 10;
/** Columns for what one does, with the gaps around it, before a second key is named. */
const LEAST_FACTS = 20;

/**
 * What a key makes of the view (product.md, In tmux). Pure.
 * @returns with `interrupt` where the selected one's turn is to be ended
 */
export function afterKey(
  view: TeamView,
  key: KeyPress,
  agents: readonly Pick<AgentSummary, "name" | "state">[],
): { readonly view: TeamView; readonly interrupt?: true } {
  const { at } = view;
  switch (key) {
    case "up":
      return { view: moved(view, -1, agents) };
    case "down":
      return { view: moved(view, 1, agents) };
    case "tasks":
      return { view: at === "tasks" ? leftTasks(view) : { ...view, at: "tasks", behind: at } };
    case "enter":
      return { view: at === "list" ? { ...view, at: "agent", back: 0 } : view };
    case "page-up":
      return { view: at === "agent" ? { ...view, back: view.back + PAGE } : view };
    case "page-down":
      return { view: at === "agent" ? { ...view, back: Math.max(0, view.back - PAGE) } : view };
    case "escape": {
      if (at === "tasks") return { view: leftTasks(view) };
      const works =
        at === "agent" && agents.some(({ name, state }) => name === view.selected && AT_WORK.has(state));
      return works
        ? { view: { ...view, back: 0 }, interrupt: true }
        : { view: { ...view, at: "lead", back: 0 } };
    }
  }
}

/** What was looked at before the tasks. */
function leftTasks({ behind = "lead", ...view }: TeamView): TeamView {
  return { ...view, at: behind };
}

const AT_WORK: ReadonlySet<InProcessState> = new Set(["active", "awaiting-approval"]);

function moved(view: TeamView, by: 1 | -1, agents: readonly Pick<AgentSummary, "name">[]): TeamView {
  if (agents.length === 0) return view;
  const now = agents.findIndex(({ name }) => name === view.selected);
  const first = by === 1 ? 0 : agents.length - 1;
  const isShown = view.at === "list" || view.at === "agent";
  // Who comes back to the list finds the one selected that was.
  const next = now === -1 ? first : isShown ? (now + by + agents.length) % agents.length : now;
  return { at: view.at === "agent" ? "agent" : "list", selected: agents[next]?.name, back: 0 };
}

/** The view where the selected one may have gone, scrolled no further back than it has rows. */
export function settledView(
  view: TeamView,
  agents: readonly Pick<AgentSummary, "name" | "lines">[],
): TeamView {
  if (view.at !== "list" && view.at !== "agent") return view;
  const selected = agents.find(({ name }) => name === view.selected);
  if (selected !== undefined) return { ...view, back: Math.min(view.back, selected.lines.length) };
  const [first] = agents;
  return first === undefined ? LEAD_VIEW : { at: "list", selected: first.name, back: 0 };
}

interface Frame {
  /** As many as the screen has at most, none wider than it. */
  readonly rows: readonly string[];
  /** The cursor's column in the last row; undefined where nothing is typed. */
  readonly cursor?: number;
}

/** What a frame is drawn on. */
interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly paint: Styler;
}

/** The whole screen but for the lead's own paper. Pure. */
export function frameOf(view: TeamView, facts: ViewFacts, sheet: Canvas, line: string): Frame {
  const frame = wholeFrame(view, facts, sheet, line);
  // What was shown when the terminal was wider is.
  return { ...frame, rows: frame.rows.map((row) => cutPainted(row, sheet.width)) };
}

function wholeFrame(view: TeamView, facts: ViewFacts, sheet: Canvas, line: string): Frame {
  const selected = facts.agents.find(({ name }) => name === view.selected);
  if (view.at === "tasks") return { rows: tasksFrame(facts, sheet) };
  if (view.at === "agent" && selected !== undefined) return agentFrame(view, selected, sheet, line);
  return { rows: listFrame(view, facts, sheet) };
}

function listFrame(view: TeamView, facts: ViewFacts, sheet: Canvas): string[] {
  const { width, height, paint } = sheet;
  const { agents } = facts;
  const longest = Math.max(...agents.map(({ name }) => displayWidth(gridText(name))), 4);
  const list = agents.map((agent) => {
    const isSelected = agent.name === view.selected;
    const own = gridText(agent.name);
    const name = `${own}${" ".repeat(longest - displayWidth(own))}`;
    const facts = agentFacts(agent);
    const room = width - longest - 6;
    const text = paint(agent.name === view.selected ? undefined : TONE.quiet, cutToWidth(facts, room));
    const pen = isSelected ? "bold" : undefined;
    return `${isSelected ? "›" : " "} ${signOf(agent, paint)} ${paint(pen, paint(memberColor(agent.color), name))}  ${text}`;
  });
  const head = [title(`teammates of ${facts.team}`, "Enter views · Esc back", sheet), ""];
  const at = agents.findIndex(({ name }) => name === view.selected);
  const room = Math.max(1, height - head.length);
  const top = Math.max(0, at + 1 - room);
  const rest = room - list.length - 2;
  const last = rest < 1 ? [] : (agents[at]?.lines.slice(-rest) ?? []);
  return [...head, ...list.slice(top), "", rule(sheet), ...last].slice(0, height);
}

function agentFrame({ back }: TeamView, agent: AgentSummary, sheet: Canvas, line: string): Frame {
  const { width, height, paint } = sheet;
  const works = AT_WORK.has(agent.state);
  const first = `Esc ${works ? "interrupts" : "back"}`;
  const all = `${first} · Shift+↑↓ the next`;
  const plain = `  ${gridText(agent.name)}`;
  const isRoom = displayWidth(plain) + displayWidth(all) + LEAST_FACTS <= width;
  const keys = isRoom ? all : first;
  const name = `${signOf(agent, paint)} ${paint("bold", paint(memberColor(agent.color), gridText(agent.name)))}`;
  const facts = cutToWidth(agentFacts(agent), width - displayWidth(plain) - displayWidth(keys) - 4);
  const gap = " ".repeat(
    Math.max(1, width - displayWidth(plain) - 2 - displayWidth(facts) - displayWidth(keys)),
  );
  const head = `${name}  ${paint(TONE.quiet, `${facts}${gap}${keys}`)}`;
  const room = Math.max(1, height - 4);
  // It is never scrolled beyond its first row.
  const end = Math.max(Math.min(room, agent.lines.length), agent.lines.length - back);
  const shown = agent.lines.slice(Math.max(0, end - room), end);
  const filled = [...shown, ...Array<string>(room - shown.length).fill("")];
  const input = lineEnd(line, width - 3);
  const prompt = isOver(agent.state) ? paint(TONE.quiet, "it has ended") : `${paint("bold", "›")} ${input}`;
  const cursor = isOver(agent.state) ? {} : { cursor: 2 + displayWidth(input) };
  return { rows: [head, rule(sheet), ...filled, rule(sheet), prompt], ...cursor };
}

function tasksFrame({ tasks, team }: ViewFacts, sheet: Canvas): string[] {
  const { width, height, paint } = sheet;
  const completed = new Set(tasks.filter(({ status }) => status === "completed").map(({ id }) => id));
  const head = [title(`tasks of ${team} · ${completed.size} of ${tasks.length} done`, "Esc back", sheet), ""];
  if (tasks.length === 0) return [...head, paint(TONE.quiet, "  none yet")];
  const rows = tasks.map((task) => {
    const { sign, tone } = TASK_LOOKS[taskState(task, tasks)];
    const owner = task.owner === undefined ? "" : ` · ${gridText(task.owner)}`;
    const open = task.status === "pending" ? task.blockedBy.filter((id) => !completed.has(id)) : [];
    const blocked = open.length === 0 ? "" : ` · after ${open.map((id) => `#${id}`).join(" ")}`;
    const id = `#${task.id}`.padStart(4);
    return `${paint(tone, sign)} ${paint(TONE.quiet, id)} ${cutToWidth(`${gridText(task.subject)}${owner}${blocked}`, width - 8)}`;
  });
  const room = height - head.length;
  if (rows.length <= room) return [...head, ...rows];
  return [
    ...head,
    ...rows.slice(0, room - 1),
    paint(TONE.quiet, `  … ${rows.length - room + 1} more: teams task list`),
  ];
}

function title(text: string, keys: string, { width, paint }: Canvas): string {
  const what = cutToWidth(gridText(text), Math.max(0, width - displayWidth(keys) - 2));
  const gap = " ".repeat(Math.max(1, width - displayWidth(what) - displayWidth(keys)));
  return `${paint("bold", what)}${gap}${paint(TONE.quiet, keys)}`;
}

function rule({ width, paint }: Canvas): string {
  return paint(TONE.faint, "─".repeat(width));
}

function agentFacts({ state, activity }: AgentSummary): string {
  const word = WORDS[state];
  return activity === "" || state !== "active" ? word : gridText(activity);
}

const WORDS: Readonly<Record<InProcessState, string>> = {
  pending: "starting",
  active: "working",
  idle: "idle",
  "awaiting-approval": "waits for an answer",
  "shutdown-requested": "shutting down",
  aborted: "being ended",
  completed: "ended",
  failed: "crashed",
  killed: "was killed",
};

const SIGNS: Readonly<Record<InProcessState, readonly [string, Style]>> = {
  pending: ["◌", TONE.quiet],
  active: ["●", TONE.busy],
  idle: ["○", TONE.quiet],
  "awaiting-approval": ["▲", TONE.attention],
  "shutdown-requested": ["◌", TONE.quiet],
  aborted: ["◌", TONE.quiet],
  completed: ["·", TONE.quiet],
  failed: ["✗", TONE.bad],
  killed: ["✗", TONE.quiet],
};

function signOf({ state }: AgentSummary, paint: Styler): string {
  const [sign, style] = SIGNS[state];
  return paint(style, sign);
}

import { type InProcessState, isOver } from "../../backend/in-process/states.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { TASK_LOOKS, taskState } from "../../sidebar/labels.ts";
import { inputRows } from "../../terminal/input/input-rows.ts";
import type { ViewKey } from "../../terminal/input/key-decoder.ts";
import type { EditedLine } from "../../terminal/input/typed.ts";
import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { textEnd } from "../../text/characters/cut-text.ts";
import { cutStyled } from "../../text/cut-styled.ts";
import { memberColor, type Style, type Styler, TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";

/** The view of a lead's pane: the lead's output, the list of teammates, one teammate, or the tasks. */
export interface TeamView {
  readonly at: "lead" | "list" | "agent" | "tasks";
  /** Name of the selected teammate; undefined before the first selection. */
  readonly selected: string | undefined;
  /** Rows that a teammate's view is scrolled back. */
  readonly scrolledBack: number;
  /** The view to show after the tasks. */
  readonly returnTo?: TeamView["at"];
}

export const LEAD_VIEW: TeamView = { at: "lead", selected: undefined, scrolledBack: 0 };

/** Returns the member to whom a line goes that is typed in a view. */
export function lineOwner({ at, selected }: TeamView): string | undefined {
  if (at === "lead") return LEAD_NAME;
  return at === "agent" ? selected : undefined;
}

export interface AgentSummary {
  readonly name: string;
  readonly color: string;
  readonly state: InProcessState;
  /** As in its status record. */
  readonly activity: string;
  /** Its newest output, styled. */
  readonly lines: readonly string[];
}

export interface ViewFacts {
  readonly team: string;
  readonly agents: readonly AgentSummary[];
  readonly tasks: readonly Task[];
}

export type KeyPress = ViewKey | "enter" | "escape";

const PAGE_ROWS = 10;
/** Columns that the state or activity needs, with gaps, before the second key hint is shown. */
const MIN_FACTS_WIDTH = 20;

/**
 * Returns the view after a key press (product.md, In tmux). Pure.
 * @returns `interrupt` if the selected teammate's turn must be interrupted
 */
export function applyKey(
  view: TeamView,
  key: KeyPress,
  agents: readonly Pick<AgentSummary, "name" | "state">[],
): { readonly view: TeamView; readonly interrupt?: true } {
  const { at } = view;
  switch (key) {
    case "up":
      return { view: moveSelection(view, -1, agents) };
    case "down":
      return { view: moveSelection(view, 1, agents) };
    case "tasks":
      return { view: at === "tasks" ? withoutTasks(view) : { ...view, at: "tasks", returnTo: at } };
    case "enter":
      return { view: at === "list" ? { ...view, at: "agent", scrolledBack: 0 } : view };
    case "page-up":
      return { view: at === "agent" ? { ...view, scrolledBack: view.scrolledBack + PAGE_ROWS } : view };
    case "page-down":
      return {
        view: at === "agent" ? { ...view, scrolledBack: Math.max(0, view.scrolledBack - PAGE_ROWS) } : view,
      };
    case "escape": {
      if (at === "tasks") return { view: withoutTasks(view) };
      const isWorking =
        at === "agent" &&
        agents.some(({ name, state }) => name === view.selected && WORKING_STATES.has(state));
      return isWorking
        ? { view: { ...view, scrolledBack: 0 }, interrupt: true }
        : { view: { ...view, at: "lead", scrolledBack: 0 } };
    }
  }
}

function withoutTasks({ returnTo = "lead", ...view }: TeamView): TeamView {
  return { ...view, at: returnTo };
}

const WORKING_STATES: ReadonlySet<InProcessState> = new Set(["active", "awaiting-approval"]);

function moveSelection(
  view: TeamView,
  step: 1 | -1,
  agents: readonly Pick<AgentSummary, "name">[],
): TeamView {
  if (agents.length === 0) return view;
  const current = agents.findIndex(({ name }) => name === view.selected);
  const first = step === 1 ? 0 : agents.length - 1;
  const isShown = view.at === "list" || view.at === "agent";
  // Opening the list keeps the earlier selection.
  const next = current === -1 ? first : isShown ? (current + step + agents.length) % agents.length : current;
  return { at: view.at === "agent" ? "agent" : "list", selected: agents[next]?.name, scrolledBack: 0 };
}

/** Corrects a view whose selected teammate has gone or that is scrolled back further than it has rows. */
export function validView(view: TeamView, agents: readonly Pick<AgentSummary, "name" | "lines">[]): TeamView {
  if (view.at !== "list" && view.at !== "agent") return view;
  const selected = agents.find(({ name }) => name === view.selected);
  if (selected !== undefined)
    return { ...view, scrolledBack: Math.min(view.scrolledBack, selected.lines.length) };
  const [first] = agents;
  return first === undefined ? LEAD_VIEW : { at: "list", selected: first.name, scrolledBack: 0 };
}

interface Frame {
  /** At most as many rows as the screen has, and no row wider than the screen. */
  readonly rows: readonly string[];
  /** Index of the cursor's row, and its column; undefined if the view has no input row. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly styleText: Styler;
}

/** Renders the whole screen of any view except the lead's. Pure. */
export function renderFrame(view: TeamView, facts: ViewFacts, canvas: Canvas, edited: EditedLine): Frame {
  const frame = uncutFrame(view, facts, canvas, edited);
  // Lines of output may come from a wider terminal.
  return { ...frame, rows: frame.rows.map((row) => cutStyled(row, canvas.width)) };
}

function uncutFrame(view: TeamView, facts: ViewFacts, canvas: Canvas, edited: EditedLine): Frame {
  const selected = facts.agents.find(({ name }) => name === view.selected);
  if (view.at === "tasks") return { rows: tasksFrame(facts, canvas) };
  if (view.at === "agent" && selected !== undefined) return agentFrame(view, selected, canvas, edited);
  return { rows: listFrame(view, facts, canvas) };
}

function listFrame(view: TeamView, facts: ViewFacts, canvas: Canvas): string[] {
  const { width, height, styleText } = canvas;
  const { agents } = facts;
  const longest = Math.max(...agents.map(({ name }) => displayWidth(gridText(name))), 4);
  const list = agents.map((agent) => {
    const isSelected = agent.name === view.selected;
    const shownName = gridText(agent.name);
    const name = `${shownName}${" ".repeat(longest - displayWidth(shownName))}`;
    const facts = agentFacts(agent);
    const room = width - longest - 6;
    const text = styleText(agent.name === view.selected ? undefined : TONE.quiet, cutToWidth(facts, room));
    const style = isSelected ? "bold" : undefined;
    return `${isSelected ? "›" : " "} ${signOf(agent, styleText)} ${styleText(style, styleText(memberColor(agent.color), name))}  ${text}`;
  });
  const head = [title(`teammates of ${facts.team}`, "Enter views · Esc back", canvas), ""];
  const at = agents.findIndex(({ name }) => name === view.selected);
  const room = Math.max(1, height - head.length);
  const top = Math.max(0, at + 1 - room);
  const rest = room - list.length - 2;
  const last = rest < 1 ? [] : (agents[at]?.lines.slice(-rest) ?? []);
  return [...head, ...list.slice(top), "", rule(canvas), ...last].slice(0, height);
}

/** Maximum characters of held lead output, about a hundred screens; the lead's log has the rest. */
const MAX_HELD = 512 * 1024;

/** Returns the part of the lead's output that is kept while another view is shown. */
export function heldOutput(text: string): string {
  if (text.length <= MAX_HELD) return text;
  const kept = textEnd(text, MAX_HELD / 2);
  return `… earlier output: teams logs team-lead\n${kept.slice(kept.indexOf("\n") + 1)}`;
}

/** Maximum rows of the input line and its list of suggestions. */
const MAX_INPUT = 8;

/** Returns how many rows of its output a teammate's view shows above one input row, on a screen of this height. */
export function outputRows(height: number): number {
  return Math.max(1, height - 4);
}

function agentFrame(
  { scrolledBack }: TeamView,
  agent: AgentSummary,
  canvas: Canvas,
  edited: EditedLine,
): Frame {
  const { width, height, styleText } = canvas;
  const isWorking = WORKING_STATES.has(agent.state);
  const first = `Esc ${isWorking ? "interrupts" : "back"}`;
  const all = `${first} · Shift+↑↓ next`;
  const plain = `  ${gridText(agent.name)}`;
  const isRoom = displayWidth(plain) + displayWidth(all) + MIN_FACTS_WIDTH <= width;
  const keys = isRoom ? all : first;
  const name = `${signOf(agent, styleText)} ${styleText("bold", styleText(memberColor(agent.color), gridText(agent.name)))}`;
  const facts = cutToWidth(agentFacts(agent), width - displayWidth(plain) - displayWidth(keys) - 4);
  const gap = " ".repeat(
    Math.max(1, width - displayWidth(plain) - 2 - displayWidth(facts) - displayWidth(keys)),
  );
  const head = `${name}  ${styleText(TONE.quiet, `${facts}${gap}${keys}`)}`;
  const maxRows = Math.max(1, Math.min(MAX_INPUT, Math.floor(height / 3)));
  const input = isOver(agent.state)
    ? { rows: [styleText(TONE.quiet, "this teammate has ended")], row: 0, column: 0 }
    : inputRows(edited, { width, maxRows, styleText, prompt: "›" });
  const room = Math.max(1, outputRows(height) + 1 - input.rows.length);
  // Never scroll beyond the first row.
  const end = Math.max(Math.min(room, agent.lines.length), agent.lines.length - scrolledBack);
  const shown = agent.lines.slice(Math.max(0, end - room), end);
  const filled = [...shown, ...Array<string>(room - shown.length).fill("")];
  const above = [head, rule(canvas), ...filled, rule(canvas)];
  // A terminal with very few rows shows the last ones.
  const hidden = Math.max(0, above.length + input.rows.length - height);
  const cursor = { row: Math.max(0, above.length + input.row - hidden), column: input.column };
  return { rows: [...above, ...input.rows].slice(hidden), ...(!isOver(agent.state) && { cursor }) };
}

function tasksFrame({ tasks, team }: ViewFacts, canvas: Canvas): string[] {
  const { width, height, styleText } = canvas;
  const completed = new Set(tasks.filter(({ status }) => status === "completed").map(({ id }) => id));
  const head = [
    title(`tasks of ${team} · ${completed.size} of ${tasks.length} done`, "Esc back", canvas),
    "",
  ];
  if (tasks.length === 0) return [...head, styleText(TONE.quiet, "  none yet")];
  const rows = tasks.map((task) => {
    const { sign, tone } = TASK_LOOKS[taskState(task, tasks)];
    const owner = task.owner === undefined ? "" : ` · ${gridText(task.owner)}`;
    const open = task.status === "pending" ? task.blockedBy.filter((id) => !completed.has(id)) : [];
    const blocked = open.length === 0 ? "" : ` · after ${gridText(open.map((id) => `#${id}`).join(" "))}`;
    const id = `#${task.id}`.padStart(4);
    return `${styleText(tone, sign)} ${styleText(TONE.quiet, id)} ${cutToWidth(`${gridText(task.subject)}${owner}${blocked}`, width - 8)}`;
  });
  const room = height - head.length;
  if (rows.length <= room) return [...head, ...rows];
  return [
    ...head,
    ...rows.slice(0, room - 1),
    styleText(TONE.quiet, `  … ${rows.length - room + 1} more: teams task list`),
  ];
}

function title(text: string, keys: string, { width, styleText }: Canvas): string {
  const shown = cutToWidth(gridText(text), Math.max(0, width - displayWidth(keys) - 2));
  const gap = " ".repeat(Math.max(1, width - displayWidth(shown) - displayWidth(keys)));
  return `${styleText("bold", shown)}${gap}${styleText(TONE.quiet, keys)}`;
}

function rule({ width, styleText }: Canvas): string {
  return styleText(TONE.faint, "─".repeat(width));
}

function agentFacts({ state, activity }: AgentSummary): string {
  const text = STATE_TEXTS[state];
  return activity === "" || state !== "active" ? text : gridText(activity);
}

const STATE_TEXTS: Readonly<Record<InProcessState, string>> = {
  pending: "starting",
  active: "working",
  idle: "idle",
  "awaiting-approval": "waiting for an answer",
  "shutdown-requested": "shutting down",
  aborted: "ending",
  completed: "ended",
  failed: "crashed",
  killed: "killed",
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

function signOf({ state }: AgentSummary, styleText: Styler): string {
  const [sign, style] = SIGNS[state];
  return styleText(style, sign);
}

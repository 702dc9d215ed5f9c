import { LEAD_NAME } from "../schema/names.ts";
import type { AgentState } from "../schema/status.ts";
import type { TokenCount } from "../schema/tokens.ts";
import type { Shown } from "../team/tasks/task-proof.ts";
import { cells, displayWidth } from "../text/cell-width.ts";
import { shortCall } from "../text/short-call.ts";
import { TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import type { SidebarMember, SidebarTask, SidebarTeam } from "./data.ts";

interface StateLook {
  readonly sign: string;
  /** Shown if the agent reports no activity. */
  readonly word: string;
  /** The member's own colour if omitted. */
  readonly tone?: number;
  readonly blink?: boolean;
}

/** How each state looks; also the source of the help's legend. */
export const STATE_LOOKS: Readonly<Record<AgentState, StateLook>> = {
  starting: { sign: "◌", word: "starting" },
  running: { sign: "●", word: "working" },
  idle: { sign: "○", word: "idle" },
  "awaiting-approval": { sign: "▲", word: "waits for approval", tone: TONE.attention, blink: true },
  "needs-input": { sign: "▲", word: "needs input", tone: TONE.attention, blink: true },
  throttled: { sign: "◑", word: "slowed down by the server", tone: TONE.attention },
  paused: { sign: "‖", word: "paused", tone: TONE.quiet },
  stopping: { sign: "◌", word: "shutting down", tone: TONE.quiet },
  failed: { sign: "✗", word: "failed", tone: TONE.bad },
  exited: { sign: "·", word: "ended", tone: TONE.quiet },
  crashed: { sign: "✗", word: "crashed", tone: TONE.bad },
  unknown: { sign: "?", word: "unknown", tone: TONE.quiet },
};

export type TaskState = "done" | "active" | "blocked" | "open";

export const TASK_LOOKS: Readonly<
  Record<TaskState, { readonly sign: string; readonly word: string; readonly tone: number }>
> = {
  done: { sign: "✓", word: "done", tone: TONE.good },
  active: { sign: "◐", word: "in progress", tone: TONE.busy },
  open: { sign: "○", word: "open", tone: TONE.quiet },
  blocked: { sign: "◌", word: "blocked", tone: TONE.faint },
};

/** How the result of a verify command looks; the sign follows that of the owner's claim. */
export const SHOWN_LOOKS: Readonly<
  Record<Shown, { readonly sign: string; readonly word: string; readonly tone: number }>
> = {
  passed: { sign: "✓", word: "shown", tone: TONE.good },
  failed: { sign: "✗", word: "failed", tone: TONE.bad },
  running: { sign: "◐", word: "being verified", tone: TONE.busy },
  "not run": { sign: "·", word: "not run", tone: TONE.quiet },
  unconfirmed: { sign: "?", word: "unconfirmed", tone: TONE.attention },
  none: { sign: " ", word: "no verify command", tone: TONE.faint },
};

/** A pending task is blocked if it waits for an unfinished task; an unknown id does not block. */
export function taskState(task: SidebarTask, all: readonly SidebarTask[]): TaskState {
  if (task.status !== "pending") return task.status === "completed" ? "done" : "active";
  return task.blockedBy.some((id) => unfinishedOf(all).has(id)) ? "blocked" : "open";
}

/** Caches the ids per list: `taskState` runs for each task of a list that may be long. */
const unfinished = new WeakMap<readonly SidebarTask[], ReadonlySet<string>>();

function unfinishedOf(all: readonly SidebarTask[]): ReadonlySet<string> {
  const known = unfinished.get(all);
  if (known !== undefined) return known;
  const ids = new Set(all.filter(({ status }) => status !== "completed").map(({ id }) => id));
  unfinished.set(all, ids);
  return ids;
}

/** A lead without a process: a person leads, so its state is not unknown. */
const BY_HAND: StateLook = { sign: " ", word: "led by hand", tone: TONE.quiet };

export function lookOf(member: SidebarMember, { leadAlive }: Pick<SidebarTeam, "leadAlive">): StateLook {
  const byHand = member.name === LEAD_NAME && leadAlive === null && member.state === "unknown";
  return byHand ? BY_HAND : STATE_LOOKS[member.state];
}

/** Returns a member's current activity in one line. */
export function activityOf(
  member: SidebarMember,
  team: Pick<SidebarTeam, "leadAlive"> & Partial<Pick<SidebarTeam, "approvals">>,
  width = Number.POSITIVE_INFINITY,
): string {
  const { word } = lookOf(member, team);
  // The request itself is shown above all members.
  if (team.approvals?.some(({ from }) => from === member.name)) return word;
  if (member.state === "crashed") return crashOf(member) ?? word;
  const said = gridText(shortCall(member.activity, member.cwd, width).text);
  if (member.state === "stopping" && said !== "") return `${word}: ${said}`;
  return said === "" || said === member.state ? word : said;
}

function crashOf({ exit }: SidebarMember): string | undefined {
  if (exit === null) return undefined;
  const how = exit.signal === null ? `exit code ${exit.code ?? "?"}` : `killed by ${exit.signal}`;
  const last = gridText(exit.lastLines.findLast((text) => text.trim() !== "") ?? "");
  return last === "" ? how : `${how}: ${last}`;
}

/** Sums new input and output tokens; tokens read from the cache were counted before. */
export function totalTokens(tokens: TokenCount): number {
  return tokens.input + tokens.cacheWrite + tokens.output;
}

/** `950`, `12.3k`, `4.1M`; empty for zero. */
export function shortCount(count: number): string {
  if (count <= 0) return "";
  if (count < 1000) return String(Math.round(count));
  const [value, unit] = count < 999_950 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${value < 99.95 ? value.toFixed(1) : value.toFixed(0)}${unit}`;
}

/** Wraps a text at spaces into at most `limit` rows; the last one holds the rest, to be cut with `…`. */
export function wrap(text: string, width: number, limit: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of gridText(text)
    .split(" ")
    .flatMap((part) => pieces(part, width))) {
    if (row !== "" && displayWidth(row) + 1 + displayWidth(word) > width) {
      rows.push(row);
      row = word;
    } else {
      row = row === "" ? word : `${row} ${word}`;
    }
  }
  if (row !== "") rows.push(row);
  if (rows.length <= limit) return rows;
  return [...rows.slice(0, limit - 1), rows.slice(limit - 1).join(" ")];
}

/** Splits a word that is wider than a row (a path, a sentence in Chinese) into pieces that fit. */
function pieces(word: string, width: number): string[] {
  if (displayWidth(word) <= width) return [word];
  const out = [""];
  let used = 0;
  for (const cell of cells(word)) {
    if (used + cell.width > width) {
      out.push("");
      used = 0;
    }
    out[out.length - 1] += cell.char;
    used += cell.width;
  }
  return out;
}

import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { shortPath } from "../../text/short-path.ts";
import { TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import { wrapRow } from "../../text/word-wrap.ts";
import type { PaneWriter } from "./pane-writer.ts";

/** The facts in the first lines of a pane. */
export interface PaneHeader {
  readonly team: string;
  readonly agentType?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd: string;
  /** The permission mode. */
  readonly mode?: string;
  /** The keys that the user can press, separated by ` · `. */
  readonly hint?: string;
}

const SEPARATOR = " · ";
/** Minimum rows of a terminal that shows all facts; with fewer, it shows only the most important ones. */
const MIN_HEIGHT = 16;
/** Maximum columns of the path of a playbook. */
const PLAYBOOK_WIDTH = 40;

/** Writes who works in this pane, for which team, and how to reach the agent. */
export function writeHeader(pane: PaneWriter, name: string, header: PaneHeader): void {
  const { styleText, own } = pane;
  const { team, agentType, model, cwd, mode, hint = "" } = header;
  const isLow = pane.height() < MIN_HEIGHT;
  const facts = [
    `team ${team}`,
    isLow ? undefined : agentType,
    modelText(model, pane.cwd),
    mode === "default" ? undefined : mode,
    isLow ? undefined : cwd,
  ].flatMap((fact) => (fact === undefined || fact === "" ? [] : [fact]));
  const hints = hint === "" ? [] : hint.split(SEPARATOR);
  const room = pane.width() - 2;
  const bar = styleText(own, "▌");
  pane.begin("notice");
  pane.row(`${bar} ${styleText("bold", styleText(own, gridText(name)))}`);
  for (const group of [facts, isLow ? hints.filter((text) => text.startsWith("/")) : hints])
    for (const row of factRows(group.map(gridText), room)) pane.row(`${bar} ${styleText(TONE.quiet, row)}`);
}

/** Joins facts in as few rows as possible; a row breaks only between two facts, unless a fact alone is too wide. */
function factRows(facts: readonly string[], width: number): readonly string[] {
  const rows: string[] = [];
  for (const fact of facts) {
    const last = rows.at(-1);
    const joined = last === undefined ? fact : `${last}${SEPARATOR}${fact}`;
    if (last !== undefined && displayWidth(joined) <= width) rows[rows.length - 1] = joined;
    else rows.push(...wrapRow(fact, width).map((row) => cutToWidth(row, width)));
  }
  return rows;
}

/** Returns the model; a playbook with a short path. */
function modelText(model: string | undefined, cwd: string | undefined): string | undefined {
  const path = /^scripted:(\/.*)$/s.exec(model ?? "")?.[1];
  return path === undefined ? model : `scripted:${shortPath(path, cwd, PLAYBOOK_WIDTH)}`;
}

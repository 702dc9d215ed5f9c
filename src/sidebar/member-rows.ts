import { teamTitle } from "../schema/config.ts";
import { memberColor, TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import type { SidebarData, SidebarMember } from "./data.ts";
import { activityOf, lookOf, shortCount, totalTokens } from "./labels.ts";
import {
  BLANK,
  bar,
  cut,
  ends,
  FIGURES_FROM,
  INDENT,
  type Line,
  lineOf,
  type Span,
  type SpanStyle,
  span,
} from "./spans.ts";

import type { ScreenSize } from "./state.ts";

const quiet: SpanStyle = { fg: TONE.quiet };

/** Minimum height for a blank line below the team's name. */
const BLANK_FROM = 12;

/** The team's name and the tokens that it has used. */
export function header(data: SidebarData, { width, height }: ScreenSize): Line[] {
  const { team, displayName, members } = data.status;
  const total = shortCount(members.reduce((sum, member) => sum + totalTokens(member.tokens), 0));
  const used = total === "" || width < FIGURES_FROM ? [] : [span(`${total} tokens`, quiet)];
  return [
    lineOf(
      ends([span(" "), span(gridText(teamTitle({ name: team, displayName })), { bold: true })], used, width),
    ),
    ...(height < BLANK_FROM ? [] : [BLANK]),
  ];
}

export function workingCount(data: SidebarData): string {
  const working = data.status.members.filter((member) => member.state === "running").length;
  return working === 0 ? "" : `${working} working`;
}

/** A member in one row, or in two with its activity. */
export function memberRows(
  member: SidebarMember,
  data: SidebarData,
  selected: boolean,
  width: number,
  two: boolean,
): Line[] {
  const look = lookOf(member, data.status);
  const color = { fg: memberColor(member.color) };
  const gone = member.state === "exited";
  const target = { kind: "member", name: member.name } as const;
  const left = [
    bar(selected),
    span(look.sign, { fg: look.tone ?? color.fg, blink: look.blink === true }),
    span(` ${gridText(member.name)}`, gone ? quiet : { ...color, bold: true }),
  ];
  const first = lineOf(ends(left, figures(member, width), width), target);
  if (!two) return [first];
  const tone = { fg: look.tone ?? (member.state === "running" ? TONE.quiet : TONE.faint) };
  return [
    first,
    lineOf(
      cut([bar(selected), span("  "), span(activityOf(member, data.status, width - INDENT), tone)], width),
      target,
    ),
  ];
}

function figures(member: SidebarMember, width: number): Span[] {
  const [task, ...others] = member.taskIds;
  const parts: Span[] = [];
  if (task !== undefined)
    parts.push(span(`#${gridText(task)}${others.length > 0 ? `+${others.length}` : ""}`));
  if (member.unread > 0) parts.push(span(`↓${shortCount(member.unread)}`, { fg: TONE.attention }));
  if (width >= FIGURES_FROM) parts.push(span(shortCount(totalTokens(member.tokens)).padStart(5), quiet));
  return parts.flatMap((part, i) => (i === 0 ? [part] : [span(" "), part]));
}

import { teamTitle } from "../../schema/config.ts";
import { TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { TeamLine } from "../documents.ts";
import { ends, span } from "../spans.ts";
import { type ReaderRow, row } from "./reader.ts";

/** Returns the teams that the sidebar can show. */
export function teamsDocument(teams: readonly TeamLine[], width: number): readonly ReaderRow[] {
  return teams.map((one) => ({ ...row(teamSpans(one, width)), team: one.team }));
}

function teamSpans(
  { team, displayName, members, waiting, isShown, problem }: TeamLine,
  width: number,
): ReaderRow["spans"] {
  const title = teamTitle({ name: team, displayName });
  const name = span(gridText(title), { bold: isShown, fg: isShown ? TONE.busy : undefined });
  if (problem !== undefined) return ends([name], [span("unreadable", { fg: TONE.bad })], width);
  const count = `${members} ${members === 1 ? "member" : "members"}`;
  const asks = waiting === 0 ? [] : [span(`▲ ${waiting} `, { fg: TONE.attention })];
  return ends([name], [...asks, span(count, { fg: TONE.quiet })], width);
}

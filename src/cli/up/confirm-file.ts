import { TeamError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { loadSettings } from "../../settings/settings.ts";
import { readTeamFile, type TeamFile } from "../../settings/team-file/read-team-file.ts";
import {
  confirmTeamFile,
  type TeamFileTrust,
  teamFileTrust,
  type WideningField,
} from "../../settings/team-file/team-file-trust.ts";
import { teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import { joinedLines } from "../../text/line-ends.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import { canAsk, isYes, pagedAnswer } from "../paged-answer.ts";

/** Maximum characters shown of a value: a long hostile one could scroll the others away. A command is never longer. */
const MAX_SHOWN = 1_000;
const QUESTION = "Trust this content, and the directory of the file? Only if you trust its author. [y/N] ";

/** Describes a field that widens what agents may do, in one line that hides no part of a command. */
export function wideningLine({ file, line: at, field, value }: WideningField): string {
  const shown = joinedLines(revealHidden(cutText(value, MAX_SHOWN)), "\\n");
  return line`${`${file}:${at}`}: ${field}: ${shown}`;
}

/**
 * Lets a person confirm a team file that gives its agents more rights than they have without it. Asks on a terminal.
 * @throws TeamError PERMISSION_DENIED without a yes; nothing was done
 */
export async function requireTrust(
  call: AnyCall,
  root: string,
  { team }: TeamFile,
  { fields, unconfirmed }: TeamFileTrust,
): Promise<void> {
  if (unconfirmed.length === 0) return;
  const list = fields.map((field) => `  ${wideningLine(field)}`);
  const hint = `Read the file, and if you trust its author: teams trust ${shellWord(team.file)}`;
  const files = unconfirmed.map(({ shown }) => shown).join(", ");
  if (!canAsk(call)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `${files} would let agents do more than your settings do:\n${list.join("\n")}\nYou have not confirmed this content; nothing was done.`,
      { hint, details: { fields, files: unconfirmed.map(({ path }) => path) } },
    );
  }
  const shown = [line`${files} would let agents do more than your settings do:`, ...list];
  if (!isYes(await pagedAnswer(call.io, shown, QUESTION)))
    throw new TeamError("PERMISSION_DENIED", `${team.file} is not trusted; nothing was done.`, { hint });
  await confirmTeamFile(root, unconfirmed, systemClock);
}

/**
 * Confirms the current content of a team file and of the files that it includes.
 * @param onlyShow shows what a confirmation would add, and confirms nothing
 * @throws TeamError INVALID_INPUT for a file with mistakes
 */
export async function trustTeamFile(
  { io, out }: AnyCall,
  given: string,
  { onlyShow }: { readonly onlyShow: boolean },
): Promise<void> {
  const { root } = teamsHome(io.env);
  const file = readTeamFile(given, { cwd: io.cwd, env: io.env });
  const { fields, unconfirmed } = teamFileTrust(root, file, loadSettings(root, file.team.directory));
  const confirmed = unconfirmed.map(({ path }) => path);
  if (!onlyShow) await confirmTeamFile(root, unconfirmed, systemClock);
  const list = fields.map((field) => `  ${wideningLine(field)}`).join("\n");
  const value = { files: confirmed, fields };
  if (onlyShow) {
    out.answer(value, () => (confirmed.length === 0 ? "There is nothing to confirm." : list));
    return;
  }
  out.done({ ...value, trusted: true, changed: confirmed.length > 0 }, () => {
    if (fields.length === 0)
      return line`${given} needs no trust: it lets agents do no more than your settings do.`;
    if (confirmed.length === 0) return line`${given} was already trusted with this content.`;
    return `${line`${given} is now trusted with this content, and so is its directory. Confirmed:`}\n${list}`;
  });
}

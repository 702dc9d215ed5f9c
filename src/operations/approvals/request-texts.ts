import { sameName } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import type { TeamRef } from "../../team/ref.ts";
import { localTime } from "../../text/local-time.ts";
import { shortRule } from "../../text/short-call.ts";
import { printableJson, revealHidden } from "../../text/terminal-text.ts";
import type { Approval, ApprovalDetails } from "./approvals.ts";

/** Returns the input of a call; undefined if its summary and its change show the whole call. */
export function hiddenInput({
  change = [],
  isCut,
  input,
}: Pick<ApprovalDetails, "change" | "isCut" | "input">): string | undefined {
  if ((change.length > 0 && isCut !== true) || input === undefined) return undefined;
  // Every character of the input is visible, so nothing in it can hide from the person who allows it.
  return revealHidden(printableJson(input, 2));
}

/** Returns a choice with the key or number that selects it. */
export function numbered(choice: string, at: number): string {
  return `${at + 1}  ${choice}`;
}

/** Returns the line with a question's default, and when it becomes the answer; empty without a default. */
export function defaultLine({
  default: byDefault,
  deadline,
}: Pick<ApprovalDetails, "default" | "deadline">): readonly string[] {
  if (byDefault === undefined) return [];
  const at = deadline === undefined ? "" : ` (becomes the answer at ${localTime(deadline, "seconds")})`;
  return [`default: ${revealHidden(byDefault)}${at}`];
}

/** Returns the working directory of the member that asks: a person reads paths relative to it, as in the member's pane. */
export function askerDirectory(ref: TeamRef, { from }: Pick<Approval, "from">): string | undefined {
  return readTeam(ref).members.find(({ name }) => sameName(name, from))?.cwd;
}

/** Returns a request with shorter paths in the rules of “always”, for a person. A program gets the full paths. */
export function withShortRules<T extends Pick<Approval, "from" | "always">>(ref: TeamRef, request: T): T {
  const { always } = request;
  if (always === undefined) return request;
  const cwd = askerDirectory(ref, request);
  return { ...request, always: always.map((rule) => shortRule(rule, cwd)) };
}

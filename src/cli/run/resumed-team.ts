import { SCRIPTED } from "../../agent/model/model-names.ts";
import { TeamError } from "../../errors.ts";
import { isManuallyLed } from "../../operations/run/take-over-lead.ts";
import { limitWords, recordedLimits, type ToolLimits } from "../../operations/spawn/tool-limits.ts";
import type { Env } from "../../os/env.ts";
import { openOwnTeam } from "../../runtime/operation-context.ts";
import type { Selection } from "../../runtime/select-team.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { optionWords } from "../../text/shell-quote.ts";
import type { CliChoice } from "../run-cli.ts";

/** The team that a run resumes, and its previous lead. */
export interface ResumedTeam {
  readonly team: string;
  readonly model: string | undefined;
  readonly cli: CliChoice | undefined;
  readonly wasByHand: boolean;
  /** The limits of its lead's tools. */
  readonly limits: ToolLimits;
}

/** @throws TeamError TEAM_NOT_FOUND, INVALID_INPUT, and PERMISSION_DENIED if another program created the team */
export function teamToResume(env: Env, selection: Selection): ResumedTeam {
  const { ref, config } = openOwnTeam(env, { ...selection, force: false }, undefined);
  const lead = config.members.find(({ name }) => name === LEAD_NAME);
  const name = lead && readMetadata(lead, "cli");
  return {
    team: ref.team,
    model: lead?.model,
    cli: name === undefined ? undefined : { name, effort: lead && readMetadata(lead, "effort") },
    wasByHand: isManuallyLed(config),
    limits: lead === undefined ? {} : recordedLimits(lead),
  };
}

/** @throws TeamError INVALID_INPUT */
export function requireResumable(
  options: { readonly rm: boolean; readonly detach: boolean },
  { team, wasByHand, limits }: ResumedTeam,
  { model, cli }: { readonly model: string; readonly cli: string | undefined },
): void {
  const refuse = (message: string, hint: string): never => {
    throw new TeamError("INVALID_INPUT", `${message}; nothing was done.`, { hint });
  };
  const words = optionWords("--team", team);
  if (model === SCRIPTED)
    refuse(
      "The built-in audit cannot be resumed",
      `Choose another model for its lead with --model, or end the team: teams kill ${words}`,
    );
  if (cli !== undefined && Object.keys(limits).length > 0)
    refuse(
      `The tools of ${team}'s lead are limited by ${limitWords(limits)}, which ${cli} cannot enforce`,
      "Resume it without --cli.",
    );
  if (options.rm && wasByHand)
    refuse(
      "A run does not delete a team that was led by hand",
      "Leave out --rm, and run teams delete afterwards.",
    );
  if (options.detach)
    refuse("A team cannot be resumed with --detach", "Run it in your own terminal, without --detach.");
}

import { basename, dirname } from "node:path";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import { exceedsMode } from "../../operations/permission-mode.ts";
import type { FieldPlace } from "../../operations/up/declared-team.ts";
import type { Clock } from "../../os/clock.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { stricterMode } from "../../schema/permission-modes.ts";
import type { Settings } from "../settings-schema.ts";
import { confirmationsIn, type PartOfFile, setTrust } from "../trust.ts";
import { projectOf, type TeamFile } from "./read-team-file.ts";
import type { TeamSource } from "./source.ts";

/** A field of a team file that widens what its agents may do. */
export interface WideningField extends FieldPlace {
  readonly value: string;
}

/** The parts of a team file that a person has to confirm before they apply. */
export interface TeamFileTrust {
  /** Empty if nothing in the file needs trust. */
  readonly fields: readonly WideningField[];
  /** The files that the person has not confirmed with this content. */
  readonly unconfirmed: readonly TeamSource[];
}

/**
 * Returns what a person has to confirm. A file that widens rights is confirmed as a whole, like an agent file, and with it all
 * files of the team: their prompts direct the agents that have these rights. Files in the user's own root need no trust.
 */
export function teamFileTrust(root: string, file: TeamFile, settings: Settings): TeamFileTrust {
  const fields = wideningFields(file, settings);
  if (fields.length === 0) return { fields, unconfirmed: [] };
  const unconfirmed = file.sources.filter(
    (source) =>
      !isInside(source.path, realPathOf(root)) &&
      !confirmationsIn(root, dirname(source.path)).isConfirmed(partOf(source)),
  );
  return { fields, unconfirmed };
}

/** Records that a person trusts the directories of these files, with exactly this content of the files. */
export async function confirmTeamFile(
  root: string,
  sources: readonly TeamSource[],
  clock: Clock,
): Promise<void> {
  for (const source of sources) await setTrust(root, dirname(source.path), true, clock, [partOf(source)]);
}

function partOf({ path, text }: TeamSource): PartOfFile {
  return { file: basename(path), label: "team file", key: "file", value: text };
}

/** A field as it is declared: its place, and its value if it widens something. */
type Field = readonly [place: FieldPlace, value: string | undefined];

function wideningFields({ team, sources }: TeamFile, { permissions, teams }: Settings): WideningField[] {
  const inherited = permissions.defaultMode ?? "default";
  const wider = (mode: typeof team.permissionMode): string | undefined =>
    mode !== undefined && exceedsMode(mode, inherited) ? mode : undefined;
  const project = realPathOf(projectOf(sources.at(-1)?.path ?? team.directory));
  const fields: Field[] = [
    [team.at("permissionMode"), wider(team.permissionMode)],
    ...team.members.flatMap(({ at, permissionMode, allowedTools = [], cli, sandbox, cwd }): Field[] => [
      [at("permissionMode"), wider(permissionMode)],
      [at("allowedTools"), allowedTools.length === 0 ? undefined : allowedTools.join(", ")],
      [at("cli"), cli],
      [
        at("sandbox"),
        sandbox !== undefined && stricterMode(sandbox, teams.sandbox.mode) !== sandbox ? sandbox : undefined,
      ],
      [at("cwd"), isInside(realPathOf(cwd), project) ? undefined : cwd],
    ]),
    // The command runs with the rights of its task's owner, but no prompt asks before.
    ...team.tasks.map(({ at, verify }): Field => [at("verify"), verify]),
    ...(team.lead === undefined ? [] : [[team.lead.at("cli"), team.lead.cli] as Field]),
  ];
  return fields.flatMap(([place, value]) => (value === undefined ? [] : [{ ...place, value }]));
}

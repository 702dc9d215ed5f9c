import { adoptedPlace } from "../../backend/tmux/foreign-pane.ts";
import { TeamError } from "../../errors.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { AdoptedProgram } from "../../schema/member-metadata.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { readForeign } from "../../team/records/foreign-record.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import { optionWords } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { type ForeignProof, isForeignMember, proveForeignMember } from "./foreign-members.ts";

/**
 * Returns the place of a member: the recorded one or, for a foreign member, its proven pane while its process runs.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function placeOfMember(ctx: OperationContext, name: string): Promise<PlaceRecord | undefined> {
  return (await inputOfMember(ctx, name))?.place;
}

/** Where a member's input is read. */
interface MemberInput {
  readonly place: PlaceRecord;
  /** A process in the process group of the program that reads it; undefined for teams' own agent, and after its end. */
  readonly pid?: number | undefined;
}

/**
 * Returns the place of a member as {@link placeOfMember}, with the process that must be in the foreground there.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function inputOfMember(ctx: OperationContext, name: string): Promise<MemberInput | undefined> {
  const member = lookUpMember(readTeam(ctx.ref), name);
  const adopted = member && readMetadata(member, "adopted");
  if (adopted !== undefined) {
    if (livenessOf(adopted.process) === "dead") return undefined;
    return { place: adoptedPlace(adopted), pid: adopted.process.pid };
  }
  const place = readPlace(ctx.ref, name);
  if (place !== undefined) {
    const process = readStatus(ctx.ref, name)?.process;
    // A CLI with its own screen shares the process group of its teammate's process.
    const hasScreen = member !== undefined && readMetadata(member, "ownScreen") === true;
    const isKnown = hasScreen && process !== undefined && livenessOf(process) === "alive";
    return { place, pid: isKnown ? process.pid : undefined };
  }
  const proof = await proofOf(ctx, name);
  if (!proof?.alive || proof.place === undefined) return undefined;
  return { place: proof.place, pid: proof.process.pid };
}

/** Returns the program that became this member, and runs in a pane of a person; undefined for other members. */
export function adoptedBy({ ref }: OperationContext, name: string): AdoptedProgram | undefined {
  const member = lookUpMember(readTeam(ref), name);
  return member && readMetadata(member, "adopted");
}

/** Returns the pane of a member as it was recorded or proven last, without asking tmux. */
export function lastPaneOf({ ref }: OperationContext, name: string): string | undefined {
  return readPlace(ref, name)?.paneId ?? readForeign(ref, name)?.pane?.paneId;
}

async function proofOf(ctx: OperationContext, name: string): Promise<ForeignProof | undefined> {
  const config = readTeam(ctx.ref);
  const member = lookUpMember(config, name);
  if (member === undefined || !isForeignMember(ctx.ref, member)) return undefined;
  return proveForeignMember(ctx, config, member);
}

/**
 * Returns the error for a foreign member without a proven pane, with the reason.
 * @returns undefined for a member that teams started
 */
export async function unprovenPaneError(ctx: OperationContext, name: string): Promise<TeamError | undefined> {
  const proof = await proofOf(ctx, name);
  if (proof === undefined) return undefined;
  return new TeamError("RECIPIENT_INACTIVE", `No pane is proven to be ${name}'s: ${whyNoPane(proof)}.`, {
    hint: `See its state: teams status ${optionWords("--team", ctx.ref.team)}`,
  });
}

/** Says why a foreign member has no proven pane, as a clause. */
function whyNoPane(proof: ForeignProof): string {
  if (proof.alive === true)
    return `its process ${proof.process.pid} runs in no tmux pane that can be seen here`;
  if (proof.alive === false) return `its process ${proof.process.pid} has ended`;
  return WHY_UNPROVEN[proof.why];
}

const WHY_UNPROVEN = {
  unseen: "another program started it, and no process here shows its name",
  ambiguous: "several processes have its name",
  elsewhere: "its process runs on another machine or in another container",
} as const;

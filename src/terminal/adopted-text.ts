import { livenessOf } from "../os/process/identity.ts";
import type { TeamMember } from "../schema/config.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { line } from "./output.ts";

/** Returns sentences about the programs of members that have left the team: those that a person started still run. */
export function stayLines(members: readonly TeamMember[], left: ReadonlySet<string>): readonly string[] {
  return members.flatMap((member) => {
    const adopted = left.has(member.name) ? readMetadata(member, "adopted") : undefined;
    if (adopted === undefined) return [];
    const { program, pane } = adopted;
    if (livenessOf(adopted.process) === "dead") return [line`Its program ${program} had already ended.`];
    return [line`Its program ${program} stays in your pane ${pane.paneId}; only the bridge to it has ended.`];
  });
}
